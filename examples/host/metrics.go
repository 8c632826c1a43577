package main

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/foretick/foretick/stats/metrics"
)

// The metrics of the process and of its tapes. Package metrics has those of matches.
var (
	goroutines    = &metrics.Metric{Name: "go_goroutines", Help: "Goroutines.", Type: metrics.Gauge}
	heapBytes     = &metrics.Metric{Name: "go_memstats_heap_alloc_bytes", Help: "Bytes of objects on the heap.", Type: metrics.Gauge}
	residentBytes = &metrics.Metric{Name: "process_resident_memory_bytes", Help: "Memory of the process. On Linux alone.", Type: metrics.Gauge}
	processTime   = &metrics.Metric{Name: "process_cpu_seconds_total", Help: "Time of processors. On Linux alone.", Type: metrics.Counter}
	openFiles     = &metrics.Metric{Name: "process_open_fds", Help: "Descriptors in use. On Linux alone.", Type: metrics.Gauge}
	mostFiles     = &metrics.Metric{Name: "process_max_fds", Help: "Descriptors that the process may use. On Linux alone.", Type: metrics.Gauge}
	tapesRunning  = &metrics.Metric{Name: "host_tapes_running", Help: "Matches whose tape is written.", Type: metrics.Gauge}
	tapesFailed   = &metrics.Metric{Name: "host_tapes_failed_total", Help: "Matches whose tape could not be written to its end.", Type: metrics.Counter}
	tapesRemoved  = &metrics.Metric{Name: "host_tapes_removed_total", Help: "Tapes that went because the directory was full.", Type: metrics.Counter}
	tapesHanded   = &metrics.Metric{Name: "host_tapes_collected_total", Help: "Tapes by what became of the command that collects them.", Type: metrics.Counter, Labels: []string{"result"}}
)

// metrics replies with the figures in Prometheus's format.
func (h *hosting) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", metrics.ContentType)
	if metrics.Write(w, h.host, metrics.Config{}) == nil {
		_ = metrics.WriteSamples(w, h.samples())
	}
}

// samples returns the values of the metrics above.
func (h *hosting) samples() (all []metrics.Sample) {
	put := func(m *metrics.Metric, v float64, labels ...string) {
		all = append(all, metrics.Sample{Metric: m, Labels: labels, Value: v})
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	put(goroutines, float64(runtime.NumGoroutine()))
	put(heapBytes, float64(m.HeapAlloc))
	if p, ok := readProcess(); ok {
		put(residentBytes, p.resident)
		put(processTime, p.seconds)
		put(openFiles, p.files)
		put(mostFiles, p.mostFiles)
	}
	if t := h.tapes; t != nil {
		st := t.folder.Stats()
		put(tapesRunning, float64(st.Running))
		put(tapesFailed, float64(st.Failed))
		put(tapesRemoved, float64(st.Removed))
		put(tapesHanded, float64(t.collected.Load()), "collected")
		put(tapesHanded, float64(t.failed.Load()), "failed")
	}
	return all
}

// process is what Linux measures of this process.
type process struct{ resident, seconds, files, mostFiles float64 }

// readProcess reads /proc. It returns false on other systems.
func readProcess() (p process, ok bool) {
	const ticks = 100 // a second, on every machine that Go supports
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("/proc/self", name))
		ok = ok && err == nil
		return string(b)
	}
	ok = true
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		ok = ok && err == nil
		return v
	}
	stat := read("stat")
	_, stat, _ = strings.Cut(stat, ") ") // the field before may contain spaces
	fields := strings.Fields(stat)
	entries, err := os.ReadDir("/proc/self/fd")
	if !ok || err != nil || len(fields) < 22 {
		return p, false
	}
	p.seconds = (number(fields[11]) + number(fields[12])) / ticks
	p.resident = number(fields[21]) * float64(os.Getpagesize())
	p.files = float64(len(entries))
	for line := range strings.Lines(read("limits")) {
		if rest, is := strings.CutPrefix(line, "Max open files"); is {
			if soft := strings.Fields(rest)[0]; soft != "unlimited" {
				p.mostFiles = number(soft)
			}
		}
	}
	return p, ok
}
