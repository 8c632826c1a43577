package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/foretick/foretick/inspect"
)

const (
	streamEvery = 100 * time.Millisecond
	streamBatch = 64 // samples in an event
	streamQuiet = 5 * time.Second
)

// stream sends the samples of an end and the events of all as server-sent events, while the
// page is open. Their names are samples and events, with what samples.json and events.json
// have, events oldest first. When the list of ends changes, ends has it.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request) {
	from, err := whole(r, "from", 64)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	after, err := whole(r, "after", 64)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if _, err := h.in.Series(r.FormValue("end")); err != nil {
		answer(w, nil, err)
		return
	}
	if !h.gate.stream(1, h.cfg.MaxStreams) {
		fail(w, http.StatusServiceUnavailable, "too many pages are open: close one, or raise web.Config.MaxStreams")
		return
	}
	defer h.gate.stream(-1, h.cfg.MaxStreams)
	defer h.watch.beginRequest()()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx passes each event on at once
	s := reader{w: w, out: http.NewResponseController(w), end: r.FormValue("end"), from: from, after: after}
	ticker := time.NewTicker(streamEvery)
	defer ticker.Stop()
	for {
		if err := s.sendNew(h.in, time.Now()); err != nil {
			return // it went, or is too slow
		}
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		case <-h.ended:
			return
		}
	}
}

// reader is an open stream.
type reader struct {
	w           http.ResponseWriter
	out         *http.ResponseController
	end         string
	from, after uint64
	ends        string // as last sent
	wrote       time.Time
	buf         bytes.Buffer
}

// sendNew sends what is new. Samples and events that were overwritten before are left out.
func (s *reader) sendNew(in *inspect.Inspector, now time.Time) error {
	s.buf.Reset()
	for {
		got, err := in.Samples(s.end, s.from, streamBatch)
		if err != nil {
			return err // the end was removed
		}
		if s.from = got.Next; len(got.Ticks) == 0 {
			break
		}
		if err := s.putEvent("samples", got); err != nil {
			return err
		}
	}
	events := in.Events(inspect.EventQuery{After: s.after, Most: 500})
	if len(events) > 0 {
		s.after = events[0].Number
		for i, k := 0, len(events)-1; i < k; i, k = i+1, k-1 {
			events[i], events[k] = events[k], events[i]
		}
		if err := s.putEvent("events", events); err != nil {
			return err
		}
	}
	names := ""
	all := in.Ends()
	for _, e := range all {
		names += e.Name + "\n"
	}
	if names != s.ends {
		s.ends = names
		if err := s.putEvent("ends", all); err != nil {
			return err
		}
	}
	if s.buf.Len() == 0 && now.Sub(s.wrote) < streamQuiet {
		return nil
	}
	if s.buf.Len() == 0 {
		s.buf.WriteString(": still here\n\n")
	}
	s.wrote = now
	_ = s.out.SetWriteDeadline(now.Add(slowReader)) // a transport without deadlines has the request's context
	if _, err := s.w.Write(s.buf.Bytes()); err != nil {
		return err
	}
	return s.out.Flush()
}

func (s *reader) putEvent(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	fmt.Fprintf(&s.buf, "event: %s\ndata: %s\n\n", name, b)
	return nil
}
