// Probe shows what the SDK does for a test: edits fields as the configuration says, and answers in each of the four ways.
package main

import (
	"strconv"

	"wasmhost"
)

const (
	answerEvent = iota
	answerDrop
	answerBoth
	answerFail
	answerFields
	answerPath
)

type edit struct {
	field             wasmhost.Field
	bytes, number     wasmhost.Value
	isBytes, isNumber bool
}

type setting struct {
	key   string
	value []byte
}

var (
	settings []setting
	removed  map[string]bool
	answer   int
	edits  []edit
	path   wasmhost.Path
	splice wasmhost.Splice
	events = wasmhost.NewMetric("probe.events")
)

func init() { wasmhost.Serve(configure, transform) }

func main() {}

func configure(config *wasmhost.Config) {
	answer = config.Allow("answer", "edits", "path", "attributes", "removed").Choice("answer", "event", "drop", "both", "fail", "fields", "path")
	if config.Has("path") {
		path = config.Path("path")
	}
	for _, entry := range config.Maps("edits") {
		e := edit{field: wasmhost.Field(entry.Allow("field", "bytes", "number").Int("field", 1, 14))}
		e.bytes, e.isBytes = entry.Value("bytes")
		e.number, e.isNumber = entry.Value("number")
		edits = append(edits, e)
	}
	if !config.Has("attributes") {
		return
	}
	for _, entry := range config.Maps("attributes") {
		key, _ := entry.Allow("key", "value").Value("key")
		value, _ := entry.Value("value")
		settings = append(settings, setting{key.Text, []byte(value.Text)})
	}
	removed = map[string]bool{}
	for _, key := range config.Strings("removed") {
		removed[key] = true
	}
}

func (e edit) apply(event *wasmhost.Event) {
	switch {
	case e.isBytes:
		event.SetBytes(e.field, []byte(e.bytes.Text))
	case e.isNumber:
		event.SetNumber(e.field, uint64(e.number.Integer))
	default:
		event.Remove(e.field)
	}
}

// editAttributes removes and sets attributes, and gives the text to fail with.
func editAttributes(event *wasmhost.Event) string {
	if problem := event.RemoveAttributes(func(key []byte) bool { return removed[string(key)] }); problem != "" {
		return problem
	}
	for _, s := range settings {
		if problem := event.SetAttribute(s.key, s.value); problem != "" {
			return problem
		}
	}
	return ""
}

// show gives the scalar fields in words, as a failure: what the SDK has read.
func show(event *wasmhost.Event) wasmhost.Answer {
	text := strconv.Itoa(int(event.Operation()))
	for _, field := range []wasmhost.Field{wasmhost.Ts, wasmhost.EnvelopeVersion, wasmhost.BeforeIsKeyOnly} {
		text += " " + strconv.FormatUint(event.Number(field), 10)
	}
	text += " " + orDash(event.Bytes(wasmhost.Schema))
	table, _ := event.Bytes(wasmhost.Table)
	return wasmhost.Fail(text + " " + string(table) + " " + orDash(event.Attribute("k")))
}

func orDash(text []byte, found bool) string {
	if !found {
		return "-"
	}
	return string(text)
}

// hide replaces what the path leads to in after.
func hide(event *wasmhost.Event) wasmhost.Answer {
	text, _ := event.Bytes(wasmhost.After)
	document, problem := wasmhost.Scan("after", text)
	if problem != "" {
		return wasmhost.Fail(problem)
	}
	splice.Begin(document)
	document.Select(path, func(start, end int) {
		splice.Done(wasmhost.AppendString(splice.Replace(start, end), []byte("hidden")))
	})
	if hidden, changed := splice.Finish(); changed {
		event.SetBytes(wasmhost.After, hidden)
	}
	return event.Answer()
}

func transform(event *wasmhost.Event) wasmhost.Answer {
	events.Add(2)
	events.Add(events.Value())
	wasmhost.Log(wasmhost.LevelWarn, "seen")
	switch answer {
	case answerDrop:
		return wasmhost.Drop
	case answerFail:
		return wasmhost.Fail("as asked")
	case answerFields:
		return show(event)
	case answerPath:
		return hide(event)
	}
	input := event.Build()
	for _, e := range edits {
		e.apply(event)
	}
	if removed != nil {
		if problem := editAttributes(event); problem != "" {
			return wasmhost.Fail(problem)
		}
	}
	if answer == answerEvent {
		return event.Answer()
	}
	return wasmhost.Several(input, event.Build())
}
