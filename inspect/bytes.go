package inspect

import "github.com/foretick/foretick/internal/probe"

// chartBytes is the chart with a series for each component and field.
const chartBytes = "Bytes by field"

// byteCount counts the bytes of snapshots by component and field: those that a server sends,
// or those that a client receives.
type byteCount struct {
	from  probe.Inspected
	lines int       // number of series; 0: nothing is counted
	was   []float64 // totals at the last call of addBytes
	now   []float64 // totals now
}

// newByteCount returns a byteCount and its series.
func newByteCount(cfg *Config, from probe.Inspected) (byteCount, []Series) {
	b := byteCount{from: from}
	if cfg.NoBytes {
		return b, nil
	}
	var all []Series
	for _, c := range from.Counted(nil) {
		all = append(all, bytesSeries(c[0], c[1]))
	}
	b.lines = len(all)
	return b, all
}

func bytesSeries(component, field string) Series {
	s := Series{Chart: chartBytes, Unit: "B", Count: true}
	switch {
	case component == "":
		s.Key, s.Name = "bytes.rest", "(ticks, entities and removals)"
	case field == "":
		s.Key, s.Name = "bytes."+component, component+" (whether it changed)"
	default:
		s.Key, s.Name = "bytes."+component+"."+field, component+"."+field
	}
	return s
}

func (b *byteCount) install() {
	if b.lines > 0 {
		b.from.CountBytes(true)
		b.was = b.from.CountedBytes(b.was[:0])
	}
}

func (b *byteCount) stopCounting() {
	if b.lines > 0 {
		b.from.CountBytes(false)
	}
}

// addBytes adds the bytes since the last call to the row's figures.
func (b *byteCount) addBytes(row []float32) {
	if b.lines == 0 {
		return
	}
	b.now = b.from.CountedBytes(b.now[:0])
	for i, n := range b.now {
		row[i] += float32(max(n-b.was[i], 0))
	}
	b.was, b.now = b.now, b.was
}
