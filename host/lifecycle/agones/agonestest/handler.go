package agonestest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const longestList = 1000

// handler serves the REST API.
func (s *Sidecar) handler() http.Handler {
	mux := http.NewServeMux()
	state := func(name, phase string) {
		s.handleCall(mux, "POST /"+name, name, func(w http.ResponseWriter, _ *http.Request) {
			s.mu.Lock()
			s.enterState(phase)
			if phase == "RequestReady" { // in a cluster the controller makes it ready
				if s.gs.State == phase {
					s.enterState("Ready")
				}
			}
			s.mu.Unlock()
			answer(w, struct{}{})
		})
	}
	state("ready", "RequestReady")
	state("allocate", "Allocated")
	state("shutdown", "Shutdown")
	s.handleCall(mux, "POST /health", "health", func(w http.ResponseWriter, r *http.Request) {
		if r.Body == http.NoBody {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.alive = time.Now()
		s.mu.Unlock()
		answer(w, struct{}{})
	})
	s.handleCall(mux, "GET /gameserver", "gameserver", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.published()) })
	s.handleCall(mux, "GET /watch/gameserver", "watch", s.streamChanges)
	for _, kind := range []string{"label", "annotation"} {
		s.handleCall(mux, "PUT /metadata/"+kind, kind, func(w http.ResponseWriter, r *http.Request) { s.annotate(w, r, kind) })
	}
	s.handleCall(mux, "GET /v1beta1/counters/{name}", "counter", func(w http.ResponseWriter, r *http.Request) { s.counter(w, r.PathValue("name"), nil) })
	s.handleCall(mux, "PATCH /v1beta1/counters/{name}", "counters", func(w http.ResponseWriter, r *http.Request) {
		var up counterUpdate
		if read(w, r, &up) {
			s.counter(w, r.PathValue("name"), &up)
		}
	})
	s.handleCall(mux, "GET /v1beta1/lists/{name}", "list", func(w http.ResponseWriter, r *http.Request) { s.serveList(w, r.PathValue("name"), nil) })
	s.handleCall(mux, "PATCH /v1beta1/lists/{name}", "lists", func(w http.ResponseWriter, r *http.Request) {
		var up listUpdate
		if read(w, r, &up) {
			s.serveList(w, r.PathValue("name"), &up)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, 5, "Not Found") })
	return mux
}

func (s *Sidecar) handleCall(mux *http.ServeMux, pattern, name string, fn http.HandlerFunc) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if instead := s.recordCall(name); instead != nil {
			instead(w, r)
			return
		}
		fn(w, r)
	})
}

func answer(w io.Writer, v any) { _ = json.NewEncoder(w).Encode(v) }

func refuse(w http.ResponseWriter, status, code int, text string) {
	w.WriteHeader(status)
	answer(w, map[string]any{"code": code, "message": text, "details": []any{}})
}

// failed refuses as the SDK server does, which gives its errors no code.
func failed(w http.ResponseWriter, format string, args ...any) {
	refuse(w, http.StatusInternalServerError, 2, fmt.Sprintf(format, args...))
}

func read(w http.ResponseWriter, r *http.Request, out any) bool {
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(out); err != nil {
		refuse(w, http.StatusBadRequest, 3, err.Error())
		return false
	}
	return true
}

// int64Text is an int64 as its JSON form: written as a string, read as a string or a number.
type int64Text int64

func (n int64Text) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(n), 10)), nil
}

func (n *int64Text) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*n = int64Text(v)
	return err
}

// published returns the game server as the API shows it: with the names of the description, and
// with what is not set.
func (s *Sidecar) published() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	type object = map[string]any
	counters, lists := object{}, object{}
	for name, c := range s.gs.Counters {
		counters[name] = object{"count": int64Text(c.Count), "capacity": int64Text(c.Capacity)}
	}
	for name, l := range s.gs.Lists {
		lists[name] = object{"capacity": int64Text(l.Capacity), "values": append([]string{}, l.Values...)}
	}
	ports := []object{}
	for _, name := range slices.Sorted(maps.Keys(s.gs.Ports)) {
		ports = append(ports, object{"name": name, "port": s.gs.Ports[name]})
	}
	deleted := int64Text(0)
	if s.gs.Deleted {
		deleted = int64Text(time.Now().Unix())
	}
	clone := s.gs.clone()
	return object{
		"object_meta": object{"name": "stand-in", "namespace": "default", "uid": "1234", "resource_version": strconv.Itoa(s.version), "generation": int64Text(1),
			"creation_timestamp": int64Text(1_700_000_000), "deletion_timestamp": deleted, "annotations": clone.Annotations, "labels": clone.Labels},
		"spec": object{"health": object{"disabled": false, "period_seconds": 5, "failure_threshold": 3, "initial_delay_seconds": 5}},
		"status": object{"state": clone.State, "address": clone.Address, "addresses": []any{}, "ports": ports,
			"players": nil, "counters": counters, "lists": lists},
	}
}

// streamChanges sends the game server now and after each change.
func (s *Sidecar) streamChanges(w http.ResponseWriter, r *http.Request) {
	news := make(chan struct{}, 1)
	news <- struct{}{}
	s.mu.Lock()
	s.watchers[news] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, news)
	}()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		case <-news:
			if instead := s.broken(); instead != nil {
				instead(w, r)
				return
			}
			answer(w, map[string]any{"result": s.published()})
			if http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	}
}

// broken returns the answer in place of the next line of a watch, if Fail named "line".
func (s *Sidecar) broken() http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.fails["line"]
	if len(all) == 0 {
		return nil
	}
	s.fails["line"] = all[1:]
	s.calls = append(s.calls, "line!")
	return all[0]
}

func (s *Sidecar) annotate(w http.ResponseWriter, r *http.Request, kind string) {
	var kv struct{ Key, Value string }
	if !read(w, r, &kv) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.gs.Labels
	if kind == "annotation" {
		to = s.gs.Annotations
	}
	to["agones.dev/sdk-"+kv.Key] = kv.Value
	s.tellWatchers()
	answer(w, struct{}{})
}

type counterUpdate struct {
	Count, Capacity *int64Text
	CountDiff       int64Text
}

// counter changes a counter, unless up is nil, and answers with it.
func (s *Sidecar) counter(w http.ResponseWriter, name string, up *counterUpdate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.gs.Counters[name]
	if !ok {
		failed(w, "counter not found: %s", name)
		return
	}
	if up != nil {
		if up.Count == nil && up.Capacity == nil && up.CountDiff == 0 {
			failed(w, "invalid argument. Malformed CounterUpdateRequest")
			return
		}
		if up.Capacity != nil {
			if c.Capacity = int64(*up.Capacity); c.Capacity < 0 {
				failed(w, "out of range. Capacity must be greater than or equal to 0. Found Capacity: %d", c.Capacity)
				return
			}
		}
		if up.Count != nil {
			c.Count = int64(*up.Count)
		}
		c.Count += int64(up.CountDiff)
		if (up.Count != nil || up.CountDiff != 0) && (c.Count < 0 || c.Count > c.Capacity) {
			failed(w, "out of range. Count must be within range [0,Capacity]. Found Count: %d, Capacity: %d", c.Count, c.Capacity)
			return
		}
		s.gs.Counters[name] = c
		s.tellWatchers()
	}
	answer(w, map[string]any{"name": name, "count": int64Text(c.Count), "capacity": int64Text(c.Capacity)})
}

type listUpdate struct {
	Capacity *int64Text
	Values   *[]string
}

// serveList changes a list, unless up is nil, and answers with it.
func (s *Sidecar) serveList(w http.ResponseWriter, name string, up *listUpdate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.gs.Lists[name]
	if !ok {
		failed(w, "not found. %s List not found", name)
		return
	}
	if up != nil {
		if up.Capacity != nil {
			if l.Capacity = int64(*up.Capacity); l.Capacity < 0 || l.Capacity > longestList {
				failed(w, "out of range. Capacity must be within range [0,1000]. Found Capacity: %d", l.Capacity)
				return
			}
		}
		if up.Values != nil {
			l.Values = slices.Clone(*up.Values)
		}
		l.Values = l.Values[:min(int64(len(l.Values)), l.Capacity)] // cut without a word
		s.gs.Lists[name] = l
		s.tellWatchers()
	}
	answer(w, map[string]any{"name": name, "capacity": int64Text(l.Capacity), "values": append([]string{}, l.Values...)})
}
