// Keeps the events of one table and drops all others. Change the second function into what you need.
package main

import "wasmhost"

var table string

func init() {
	wasmhost.Serve(
		// Called once, before the first event. What it refuses, the host shows to whoever wrote the configuration.
		func(config *wasmhost.Config) { table = config.Allow("table").String("table") },
		// Called for each event. The answer may depend on the event and the configuration, on nothing else.
		func(event *wasmhost.Event) wasmhost.Answer {
			if name, _ := event.Bytes(wasmhost.Table); string(name) == table {
				return event.Answer()
			}
			return wasmhost.Drop
		},
	)
}

func main() {}
