module transform

go 1.24

require wasmhost v0.0.0

replace wasmhost => ../sdk
