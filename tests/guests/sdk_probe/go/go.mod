module probe

go 1.24

require wasmhost v0.0.0

replace wasmhost => ../../../../guest_examples/sdk/go
