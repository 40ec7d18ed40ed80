module wasmhost

go 1.24
