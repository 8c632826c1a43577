package inspect

import "sync"

// Series is a figure that is collected in each tick.
type Series struct {
	Key   string `json:"key"`   // unique name among the series of an end, such as rtt_ms or bytes.Position.X
	Name  string `json:"name"`  // text for people
	Chart string `json:"chart"` // chart that shows the series, with others
	Unit  string `json:"unit"`
	// Count is set if a value counts what happened in the tick. Otherwise a value is a
	// measurement at the end of the tick.
	Count bool `json:"count,omitempty"`
}

// Samples are figures of an end, tick by tick.
type Samples struct {
	First  uint64      `json:"first"` // number of the first sample, counted from 0
	Next   uint64      `json:"next"`  // number of the sample after the last one, to ask for next
	Ticks  []Tick      `json:"ticks"`
	Values [][]float32 `json:"values"` // figures of each tick, in the order of the series
}

// ring holds the newest samples.
type ring struct {
	mu      sync.Mutex
	width   int
	ticks   []Tick
	values  []float32
	next    uint64
	scratch []float32
}

// make allocates the memory, when somebody looks for the first time.
func (r *ring) make(rows, width int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ticks == nil {
		r.width, r.ticks, r.values, r.scratch = width, make([]Tick, rows), make([]float32, rows*width), make([]float32, width)
	}
}

// row returns memory for the next sample. Only the goroutine that calls putSample may use it.
func (r *ring) row() []float32 {
	clear(r.scratch)
	return r.scratch
}

// putSample adds a sample. With again the sample replaces the newest one.
func (r *ring) putSample(t Tick, row []float32, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if again && r.next > 0 {
		r.next--
	}
	i := int(r.next % uint64(len(r.ticks)))
	r.ticks[i] = t
	for k, v := range row {
		if v-v != 0 { // not finite: JSON has no such number
			v = 0
		}
		r.values[i*r.width+k] = v
	}
	r.next++
}

// piece is how many samples are copied with the lock held, for which the end may have to wait.
const piece = 32

// readSamples copies up to most samples, from a number on. Samples that are no longer in memory
// are skipped.
func (r *ring) readSamples(from uint64, most int) (out Samples) {
	out.First, out.Next = from, from
	for len(out.Ticks) < most {
		n := r.piece(&out, min(piece, most-len(out.Ticks)))
		if n == 0 {
			break
		}
	}
	return out
}

// piece appends up to most samples to out, and returns how many.
func (r *ring) piece(out *Samples, most int) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.next - min(r.next, uint64(len(r.ticks)))
	if out.Next < oldest || out.Next > r.next { // the reader asks for samples that are overwritten, or that never existed
		out.Next = oldest
		if len(out.Ticks) > 0 { // samples between those that were copied and the next ones are lost
			out.Ticks, out.Values = out.Ticks[:0], out.Values[:0]
		}
	}
	if len(out.Ticks) == 0 {
		out.First = out.Next
	}
	for ; n < most && out.Next < r.next; n++ {
		i := int(out.Next % uint64(len(r.ticks)))
		out.Ticks = append(out.Ticks, r.ticks[i])
		out.Values = append(out.Values, append([]float32(nil), r.values[i*r.width:(i+1)*r.width]...))
		out.Next++
	}
	return n
}

// Series lists the figures of an end. The empty name is the first end.
func (in *Inspector) Series(end string) ([]Series, error) {
	e, err := in.findEnd(end)
	if err != nil {
		return nil, err
	}
	return e.series, nil
}

// Samples copies up to most samples of an end, from the number from on: 0 at first, then
// [Samples].Next. Samples that are no longer in memory are skipped.
func (in *Inspector) Samples(end string, from uint64, most int) (Samples, error) {
	e, err := in.findEnd(end)
	if err != nil {
		return Samples{}, err
	}
	return e.samples.readSamples(from, min(max(most, 0), in.cfg.Samples)), nil
}
