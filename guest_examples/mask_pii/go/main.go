// Mask_pii hides values of both row images by dotted path. The rules are in SEMANTICS.md of the SDKs; twin.py is the
// same in Python.
package main

import (
	"math/bits"

	"wasmhost"
)

// Attributes that repeat values of the row; no path reaches into them.
var removedAttributes = []string{
	"cdc.entity.entity_identifier", "cdc.operation.changed_field_values", "debezium.tombstone", "opencdc.key",
}

type rule struct {
	path      wasmhost.Path
	action    *action
	unmatched wasmhost.Metric
}

var (
	rules     []rule
	byDefault = &action{act: keep}
	hmacKey   *wasmhost.HMACKey
	// Bit i of entry d: the path of rule i has d segments.
	endingAt [wasmhost.MaxDepth + 2]uint64
)

func init() { wasmhost.Serve(configure, transform) }

func main() {}

func configure(config *wasmhost.Config) {
	config.Allow("rules", "default", "hmac_key", "remove_attributes")
	if config.Has("rules") {
		for _, entry := range config.Maps("rules") {
			if !config.Refused() {
				readRule(entry.Allow("path", "action", "marker", "n"), config)
			}
		}
	}
	if config.Has("default") {
		byDefault = readAction(config.Map("default").Allow("action", "marker", "n"), config)
	}
	if len(rules) == 0 && byDefault.act == keep {
		config.Refuse("", "has neither rules nor a default")
	}
	if config.Has("remove_attributes") {
		removedAttributes = append(removedAttributes, config.Strings("remove_attributes")...)
	}
}

func readRule(entry, config *wasmhost.Config) {
	path := entry.Path("path")
	for _, other := range rules {
		if other.path.IsSame(path) {
			entry.Refuse(entry.Place("path"), "is given twice")
		}
	}
	action := readAction(entry, config)
	if config.Refused() {
		return
	}
	endingAt[len(path)] |= 1 << len(rules)
	rules = append(rules, rule{path, action, wasmhost.NewMetric("mask_pii.unmatched." + entry.String("path"))})
}

func isRemoved(key []byte) bool {
	for _, removed := range removedAttributes {
		if string(key) == removed {
			return true
		}
	}
	return false
}

// masker walks one image.
type masker struct {
	document wasmhost.Document
	splice   wasmhost.Splice
}

var (
	maskers = [2]masker{}
	images  = [2]wasmhost.Field{wasmhost.Before, wasmhost.After}
	names   = [2]string{"before", "after"}
	// Bit i: rule i has matched a value of this event.
	matched uint64
)

func transform(event *wasmhost.Event) wasmhost.Answer {
	if problem := event.RemoveAttributes(isRemoved); problem != "" {
		return wasmhost.Fail(problem)
	}
	hasImage := false
	for i, field := range images {
		maskers[i].document = nil
		text, found := event.Bytes(field)
		if !found {
			continue
		}
		hasImage = true
		document, problem := wasmhost.Scan(names[i], text)
		if problem != "" {
			return wasmhost.Fail(problem)
		}
		maskers[i].document = document
	}
	matched = 0
	for i, field := range images {
		if maskers[i].document != nil {
			maskers[i].mask(event, field)
		}
	}
	for i := range rules {
		if hasImage && matched>>i&1 == 0 {
			rules[i].unmatched.Add(1)
		}
	}
	return event.Answer()
}

func (m *masker) mask(event *wasmhost.Event, field wasmhost.Field) {
	m.splice.Begin(m.document)
	m.walk(m.document.Root(), 0, 1<<len(rules)-1, byDefault)
	text, changed := m.splice.Finish()
	if changed {
		event.SetBytes(field, text)
	}
}

// walk masks a value and all below it, and gives where it ends. Alive are the rules whose first segments led here.
func (m *masker) walk(value, depth int, alive uint64, inherited *action) int {
	named := alive & endingAt[depth]
	matched |= named
	action := inherited
	if named != 0 {
		action = rules[bits.TrailingZeros64(named)].action
	}
	if m.document.IsContainer(value) && (named == 0 || action.act == keep) {
		if deeper := alive &^ named; deeper != 0 || action.act != keep {
			return m.walkChildren(value, depth, deeper, action)
		}
	}
	end := m.document.Skip(value)
	action.apply(m, value, end)
	return end
}

func (m *masker) walkChildren(container, depth int, alive uint64, inherited *action) int {
	child := m.document.FirstChild(container)
	if child < 0 {
		return m.document.Skip(container)
	}
	isObject := m.document[container] == '{'
	for {
		value := child
		var key []byte
		if isObject {
			key, value = m.document.Key(child)
		}
		var deeper uint64
		for left := alive; left != 0; left &= left - 1 {
			segment := rules[bits.TrailingZeros64(left)].path[depth]
			if segment.LeadsTo(key, isObject) {
				deeper |= left & -left
			}
		}
		end := m.walk(value, depth+1, deeper, inherited)
		if child = m.document.NextChild(end); child < 0 {
			return m.document.ContainerEnd(end)
		}
	}
}
