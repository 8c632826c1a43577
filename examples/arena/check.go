package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
)

// recount computes the report from the log's facts.
func (r *referee) recount() Report {
	out := Report{Clients: r.match.Clients, MispredictionsByCause: map[string]uint64{"input": 0, "server_effect": 0, "remote_input": 0, "unknown": 0, "untracked": 0, "code": 0, "late_input": 0}}
	var living, moving, changed int
	for _, p := range r.players {
		living, moving, changed = living+p.living, moving+p.moving, changed+p.changed
		out.Mispredictions += p.wrong
		out.TicksShownWrong += p.shownWrong
		out.ResimulatedTicks += p.again
		out.HardResets += p.resets
		out.EventsDelivered += p.got
		for c, n := range p.causes {
			out.MispredictionsByCause[c] += n
		}
	}
	out.PredictedTicks, out.Stuns, out.InputsMissing, out.InputsRerun, out.EventsSent = uint64(living), len(r.stuns), r.missing, r.rerun, r.told
	out.MovingPercent, out.InputChangesPercent = 100*float64(moving)/float64(max(living, 1)), 100*float64(changed)/float64(max(living, 1))
	if r.atEnd != nil {
		n := float64(r.match.Clients) * r.match.Seconds
		out.Ticks, out.Entities = r.atEnd.T, r.atEnd.Entities
		out.BytesDown, out.BytesUp = float64(r.out)/n, float64(r.in)/n
		out.EventsResent = r.last.Resent
	}
	slices.Sort(r.confirms)
	if n := len(r.confirms); n > 0 {
		out.InputToConfirmP50, out.InputToConfirmP99 = float64(r.confirms[n/2]), float64(r.confirms[min(n-1, n*99/100)])
	}
	out.LeadMean, out.InputDelayMean = r.ahead/float64(max(r.frames, 1)), r.delay/float64(max(r.frames, 1))
	out.InterpolationMean = r.behind / float64(max(r.frames, 1))
	r.settle(&out)
	r.presents()
	r.tellings(&out)
	r.agree(&out)
	return out
}

// agree compares every screen with the server's world at the end.
func (r *referee) agree(out *Report) {
	for _, f := range r.shown {
		first := ""
		for _, b := range f.Bodies {
			const everybody, own = 7, 6 // number of fields that everyone may see, and of those that only the player may see
			out.FieldsCompared += everybody
			if b.Own {
				out.FieldsCompared += own
			}
			was, ok := bodyOf(r.last.Bodies, int(b.P))
			if !ok {
				first = cmp.Or(first, fmt.Sprintf("body of player %d: not on the server", b.P))
			} else if field := differing(b, was); field != "" {
				first = cmp.Or(first, fmt.Sprintf("%s of player %d's body: the screen shows %+v, the server %+v", field, b.P, b, was))
			}
		}
		out.FieldsCompared += 3 * len(f.Bolts)
		if have, want := [2]int{len(f.Bodies), len(f.Bolts)}, [2]int{len(r.last.Bodies), len(r.last.Bolts)}; have != want {
			first = cmp.Or(first, fmt.Sprintf("bodies and bolts: the screen shows %d, the server %d", have, want))
		}
		if first != "" {
			out.Desyncs++
			out.FirstDesync = cmp.Or(out.FirstDesync, fmt.Sprintf("player %d: %s", f.P, first))
		}
	}
}

// differing returns the first field of a body that its screen shows differently
// from the server, or "".
func differing(b, was Body) string {
	coarse := func(x, y float32) bool { return math.Abs(float64(x)-float64(y)) <= 0.01*0.51 }
	switch {
	case !coarse(b.X, was.X):
		return "x"
	case !coarse(b.Y, was.Y):
		return "y"
	case !sameAngle(b.A, was.A, 1<<12):
		return "angle"
	case b.Stun != was.Stun:
		return "stun"
	case b.Dead != was.Dead:
		return "dead"
	case b.HP != was.HP:
		return "hp"
	case b.Team != was.Team:
		return "team"
	case b.Own && !alike(b, was):
		return "what its player alone sees"
	}
	return ""
}

// measured are the report's fields that a log cannot reproduce: times of this machine, a digest, and
// texts.
var measured = []string{"server_tick_us_p50", "server_tick_us_p99", "allocs_per_tick", "trace_sha256", "traffic", "first_desync", "by_transport"}

// check reads a log, counts everything again, and prints each count of the report next to the
// referee's, one line each. It returns an error if any two differ.
func check(name string, out io.Writer) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	r := newReferee()
	if err := r.read(in); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	ours := r.recount()
	var differ []string
	theirs := reflect.ValueOf(*r.report)
	for i := range theirs.NumField() {
		field := theirs.Type().Field(i)
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || slices.Contains(measured, key) {
			continue
		}
		a, b := theirs.Field(i).Interface(), reflect.ValueOf(ours).Field(i).Interface()
		mark := ""
		if !r.equalCounts(key, a, b) {
			mark = "   DIFFERS"
			differ = append(differ, key)
		}
		fmt.Fprintf(out, "%-36s report %-24s referee %s%s\n", key, text(a), text(b), mark)
	}
	if ours.FirstDesync != "" {
		fmt.Fprintf(out, "%-36s report %q, referee %q\n", "first_desync", r.report.FirstDesync, ours.FirstDesync)
	}
	if r.match.NoLag {
		fmt.Fprintf(out, "%-36s %d of %d verdicts differ from the present\n", "without lag compensation", r.noLagBad, r.noLagSeen)
		if r.noLagBad > 0 || r.noLagSeen == 0 {
			differ = append(differ, "verdicts")
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("%s: the referee counts otherwise: %s", name, strings.Join(differ, ", "))
	}
	return nil
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// equalCounts compares a count of the report with the referee's. The delay of other players' views is
// based on estimated snapshot times, which differ between the two. In real time a fact may be written
// later than its event, by as long as the process waits for a processor. So the times may differ by a
// tick.
func (r *referee) equalCounts(key string, a, b any) bool {
	x, ok := a.(float64)
	if !ok {
		return reflect.DeepEqual(a, b)
	}
	y, _ := b.(float64)
	if key == "interpolation_ms_mean" || key == "lead_ms_mean" || key == "input_delay_ms_mean" {
		return math.Abs(x-y) <= 0.05*x+2
	}
	if strings.HasPrefix(key, "input_to_confirm") {
		slack := 1.
		if r.match.Sockets {
			slack = 1000 / float64(r.match.Rate)
		}
		return math.Abs(x-y) <= slack
	}
	return math.Abs(x-y) <= 1e-9*math.Abs(x)
}
