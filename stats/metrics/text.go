package metrics

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ContentType is the Content-Type header of the page that Write writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Write writes a source's metrics in the text format of Prometheus, sorted by name. It panics like
// Each.
func Write(w io.Writer, source Source, cfg Config) error {
	var samples []Sample
	Each(source, cfg, func(s *Sample) { samples = append(samples, *s) })
	return WriteSamples(w, samples)
}

// WriteSamples writes samples in the text format of Prometheus, sorted by name and labels. A program
// may add its own metrics to those of Each.
func WriteSamples(w io.Writer, samples []Sample) error {
	rows := make([]row, len(samples))
	for i := range samples {
		rows[i] = newRow(&samples[i])
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if c := strings.Compare(a.Metric.Name, b.Metric.Name); c != 0 {
			return c
		}
		return slices.Compare(a.values, b.values)
	})
	p := page{bufio.NewWriter(w)}
	for i := range rows {
		if s := &rows[i]; i == 0 || rows[i-1].Metric.Name != s.Metric.Name {
			p.words("# HELP ", s.Metric.Name, " ", helpText.Replace(s.Metric.Help), "\n# TYPE ", s.Metric.Name, " ", s.Metric.Type.String(), "\n")
		}
		p.writeSample(&rows[i])
	}
	return p.Flush()
}

// row is a sample with its labels sorted by name.
type row struct {
	*Sample
	names, values []string
}

func newRow(s *Sample) row {
	r := row{Sample: s}
	order := make([]int, len(s.Labels))
	for i := range order {
		order[i] = i
	}
	names := s.Metric.Labels
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	for _, i := range order {
		r.names, r.values = append(r.names, names[i]), append(r.values, s.Labels[i])
	}
	return r
}

var (
	helpText  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// page is a page that is being written. Flush returns the first error.
type page struct{ *bufio.Writer }

func (p page) words(all ...string) {
	for _, s := range all {
		_, _ = p.WriteString(s)
	}
}

func (p page) writeSample(s *row) {
	switch s.Metric.Type {
	case Histogram:
		for _, b := range s.Buckets {
			p.line(s, "_bucket", "le", number(b.Bound), float64(b.Count))
		}
		p.line(s, "_bucket", "le", "+Inf", float64(s.Count))
	case Summary:
		for _, q := range s.Quantiles {
			p.line(s, "", "quantile", number(q.At), q.Value)
		}
	default:
		p.line(s, "", "", "", s.Value)
		return
	}
	p.line(s, "_sum", "", "", s.Sum)
	p.line(s, "_count", "", "", float64(s.Count))
}

// line writes a series with its value. label is one more label, if it is not empty.
func (p page) line(s *row, suffix, label, value string, v float64) {
	p.words(s.Metric.Name, suffix)
	before := "{"
	for i, name := range s.names {
		p.words(before, name, `="`, labelText.Replace(s.values[i]), `"`)
		before = ","
	}
	if label != "" {
		p.words(before, label, `="`, value, `"`)
		before = ","
	}
	if before == "," {
		p.words("}")
	}
	p.words(" ", number(v), "\n")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
