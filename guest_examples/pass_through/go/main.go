// Pass_through hands every event back as it came.
package main

import "wasmhost"

func init() {
	wasmhost.ServeBytes(func(config *wasmhost.Config) { config.Allow() }, wasmhost.Keep)
}

func main() {}
