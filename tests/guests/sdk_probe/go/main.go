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
)

type edit struct {
	field             wasmhost.Field
	bytes, number     wasmhost.Value
	isBytes, isNumber bool
}

var (
	answer int
	edits  []edit
	events = wasmhost.NewMetric("probe.events")
)

func init() { wasmhost.Serve(configure, transform) }

func main() {}

func configure(config *wasmhost.Config) {
	answer = config.Allow("answer", "edits").Choice("answer", "event", "drop", "both", "fail", "fields")
	for _, entry := range config.Maps("edits") {
		e := edit{field: wasmhost.Field(entry.Allow("field", "bytes", "number").Int("field", 1, 14))}
		e.bytes, e.isBytes = entry.Value("bytes")
		e.number, e.isNumber = entry.Value("number")
		edits = append(edits, e)
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
	}
	input := event.Build()
	for _, e := range edits {
		e.apply(event)
	}
	if answer == answerEvent {
		return event.Answer()
	}
	return wasmhost.Several(input, event.Build())
}
