;; What a guest of ours may import, doing nothing: Extism is measured without the cost of logs and metrics.
(module
  (func (export "log") (param i32 i32 i32))
  (func (export "record_metric") (param i32 i64))
  (func (export "get_metric") (param i32) (result i64) (i64.const 0))
  (func (export "abort") (param i32 i32 i32 i32) unreachable))
