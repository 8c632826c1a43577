package main

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
)

// Report is the result of a match. Counts are over all clients unless the name
// says otherwise. Docs and tests depend on these names.
type Report struct {
	Ticks                 uint32             `json:"ticks"`
	Clients               int                `json:"clients"`
	Entities              int                `json:"entities"`
	BytesDown             float64            `json:"bytes_down_per_client_per_second"`
	BytesUp               float64            `json:"bytes_up_per_client_per_second"`
	MovingPercent         float64            `json:"moving_percent"`
	InputChangesPercent   float64            `json:"input_changes_percent"`
	Stuns                 int                `json:"stuns"`
	PredictedTicks        uint64             `json:"predicted_ticks"`
	Mispredictions        uint64             `json:"mispredictions"`
	MispredictionsByCause map[string]uint64  `json:"mispredictions_by_cause"`
	TicksShownWrong       uint64             `json:"ticks_shown_wrong"`
	ResimulatedTicks      uint64             `json:"resimulated_ticks"`
	HardResets            uint64             `json:"hard_resets"`
	InputsMissing         uint64             `json:"inputs_missing"`
	InputsRerun           uint64             `json:"inputs_rerun"` // ticks of InputsMissing that ran with their own command later
	InputToConfirmP50     float64            `json:"input_to_confirm_ms_p50"`
	InputToConfirmP99     float64            `json:"input_to_confirm_ms_p99"`
	InputDelayMean        float64            `json:"input_delay_ms_mean"`
	LeadMean              float64            `json:"lead_ms_mean"` // lead of commands over the mean snapshot
	InterpolationMean     float64            `json:"interpolation_ms_mean"`
	Shots                 int                `json:"shots"`
	ShotsHitOnScreen      int                `json:"shots_hit_on_screen"`
	ShotsVoid             int                `json:"shots_void"`
	ShotsVoidByReason     map[string]int     `json:"shots_void_by_reason"`
	ShotsConfirmed        int                `json:"shots_confirmed"`
	ShotsConfirmedUnseen  int                `json:"shots_confirmed_unseen"`
	HitsTold              int                `json:"hits_told"`       // hits reported to their victims
	HitsHeard             int                `json:"hits_heard"`      // reports that arrived
	HitsRewound           int                `json:"hits_rewound"`    // hits of HitsHeard by guns that are judged in the past
	HitsWhereSeen         int                `json:"hits_where_seen"` // hits of HitsRewound at the place and time on the shooter's screen
	RewoundMean           float64            `json:"rewound_ms_mean"`
	EventsSent            uint64             `json:"events_sent"`
	EventsDelivered       uint64             `json:"events_delivered"`
	EventsResent          uint64             `json:"events_resent"`
	Desyncs               int                `json:"desyncs"`
	FieldsCompared        int                `json:"fields_compared"`
	ServerTickP50         float64            `json:"server_tick_us_p50"`
	ServerTickP99         float64            `json:"server_tick_us_p99"`
	AllocsPerTick         float64            `json:"allocs_per_tick"`
	Trace                 string             `json:"trace_sha256"`
	Traffic               map[string]float64 `json:"traffic,omitempty"`
	FirstDesync           string             `json:"first_desync,omitempty"` // the player, and the first field that differs
	ByTransport           map[string]*Shots  `json:"by_transport,omitempty"` // for -transport all: shots by transport
}

// Shots counts the shots of the players of one transport, as Report does for all.
type Shots struct {
	Clients          int `json:"clients"`
	ShotsHitOnScreen int `json:"shots_hit_on_screen"`
	ShotsVoid        int `json:"shots_void"`
	ShotsConfirmed   int `json:"shots_confirmed"`
}

// JSON writes the report as one object.
func (r *Report) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// Text writes the report for a reader.
func (r *Report) Text(w io.Writer) {
	per := func(a, b float64) float64 {
		if b == 0 {
			return 0
		}
		return 100 * a / b
	}
	fmt.Fprintf(w, "%d clients, %d entities, %d ticks\n", r.Clients, r.Entities, r.Ticks)
	fmt.Fprintf(w, "  traffic      %.0f B/s down, %.0f B/s up, each client\n", r.BytesDown, r.BytesUp)
	fmt.Fprintf(w, "  input        confirmed in %.0f ms (p99 %.0f ms); %d of the server's ticks had no input in time, and %d of these got it later\n", r.InputToConfirmP50, r.InputToConfirmP99, r.InputsMissing, r.InputsRerun)
	fmt.Fprintf(w, "               given %.0f ms ahead of the mean snapshot, shown %.0f ms late\n", r.LeadMean, r.InputDelayMean)
	fmt.Fprintf(w, "  prediction   %d of %d ticks wrong (%.2f %%): %v; %d ticks replayed, %d hard resets\n",
		r.Mispredictions, r.PredictedTicks, per(float64(r.Mispredictions), float64(r.PredictedTicks)), causes(r.MispredictionsByCause), r.ResimulatedTicks, r.HardResets)
	fmt.Fprintf(w, "  others       shown %.0f ms in the past\n", r.InterpolationMean)
	fmt.Fprintf(w, "  shots        %d fired, %d hit on screen, %d of them void; the server confirmed %d of the %d left (%.1f %%), and %d that missed on screen\n",
		r.Shots, r.ShotsHitOnScreen, r.ShotsVoid, r.ShotsConfirmed, r.ShotsHitOnScreen-r.ShotsVoid,
		per(float64(r.ShotsConfirmed), float64(r.ShotsHitOnScreen-r.ShotsVoid)), r.ShotsConfirmedUnseen)
	for _, kind := range slices.Sorted(maps.Keys(r.ByTransport)) {
		k := r.ByTransport[kind]
		fmt.Fprintf(w, "    by %-10s%d clients, %d hit on screen, %d of them void; confirmed %d of the %d left (%.1f %%)\n", kind, k.Clients,
			k.ShotsHitOnScreen, k.ShotsVoid, k.ShotsConfirmed, k.ShotsHitOnScreen-k.ShotsVoid, per(float64(k.ShotsConfirmed), float64(k.ShotsHitOnScreen-k.ShotsVoid)))
	}
	fmt.Fprintf(w, "  victims      %d hits reported, %d reports arrived; %d of %d shots hit at the position on the shooter's screen, %.0f ms back on average\n",
		r.HitsTold, r.HitsHeard, r.HitsWhereSeen, r.HitsRewound, r.RewoundMean)
	fmt.Fprintf(w, "  events       %d sent, %d delivered, %d resent\n", r.EventsSent, r.EventsDelivered, r.EventsResent)
	fmt.Fprintf(w, "  agreement    %d of %d clients differ from the server, over %d fields\n", r.Desyncs, r.Clients, r.FieldsCompared)
	if r.FirstDesync != "" {
		fmt.Fprintf(w, "               first: %s\n", r.FirstDesync)
	}
	fmt.Fprintf(w, "  server       tick %.0f µs (p99 %.0f µs), %.1f allocations a tick\n", r.ServerTickP50, r.ServerTickP99, r.AllocsPerTick)
	r.trafficText(w)
}

// traffic returns how many bytes of each kind a client transfers in a second.
func traffic(lines []stats.Traffic, seconds float64) map[string]float64 {
	if lines == nil {
		return nil
	}
	out := map[string]float64{}
	for _, l := range lines {
		name := "down "
		if l.Up {
			name = "up "
		}
		switch {
		case l.What != "":
			name += "(" + l.What + ")"
		case l.Field == "":
			name += l.Component
		default:
			name += l.Component + "." + l.Field
		}
		out[name] += l.Bytes / seconds
	}
	return out
}

// trafficText writes the lines of traffic, largest first.
func (r *Report) trafficText(w io.Writer) {
	names := slices.Collect(maps.Keys(r.Traffic))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Traffic[b], r.Traffic[a]), cmp.Compare(a, b))
	})
	for _, name := range names {
		fmt.Fprintf(w, "  %8.1f B/s  %s\n", r.Traffic[name], name)
	}
}

func causes(m map[string]uint64) string {
	s := ""
	for c := range prediction.Cause(prediction.Causes) {
		s += fmt.Sprintf(", %s %d", c, m[c.String()])
	}
	return s[2:]
}

// quantile returns the q-quantile of the samples, in microseconds.
func quantile(samples []time.Duration, q float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	s := slices.Clone(samples)
	slices.Sort(s)
	return float64(s[int(q*float64(len(s)-1))]) / float64(time.Microsecond)
}

func hexDigest(sum [32]byte) string { return hex.EncodeToString(sum[:]) }
