package wasmhost

import (
	"runtime"
	"unsafe"
)

//go:wasmimport env log
func hostLog(level int32, text unsafe.Pointer, size int32)

//go:wasmimport env record_metric
func hostRecordMetric(name unsafe.Pointer, value int64)

//go:wasmimport env get_metric
func hostGetMetric(name unsafe.Pointer) int64

// Level is how much a log line matters.
type Level int32

// The levels of the host's log.
const (
	LevelTrace Level = iota
	LevelDebug
	LevelInfo
	LevelWarn
	LevelError
)

// Log writes one line.
func Log(level Level, text string) {
	hostLog(int32(level), unsafe.Pointer(unsafe.StringData(text)), int32(len(text)))
	runtime.KeepAlive(text)
}

// Metric is a counter. Make it once: its name (128 bytes at most) is kept for the host to read.
type Metric struct{ name []byte }

// NewMetric names a counter.
func NewMetric(name string) Metric { return Metric{append([]byte(name), 0)} }

// Add counts.
func (m Metric) Add(value int64) {
	hostRecordMetric(unsafe.Pointer(unsafe.SliceData(m.name)), value)
	runtime.KeepAlive(m.name)
}

// Value is what this event has recorded so far.
func (m Metric) Value() int64 {
	value := hostGetMetric(unsafe.Pointer(unsafe.SliceData(m.name)))
	runtime.KeepAlive(m.name)
	return value
}
