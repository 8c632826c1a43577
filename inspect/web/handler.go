package web

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect"
)

//go:embed page
var files embed.FS

// kinds are the page's files.
var kinds = map[string]string{
	"index.html": "text/html; charset=utf-8",
	"page.css":   "text/css; charset=utf-8",
	"page.js":    "text/javascript; charset=utf-8",
	"charts.js":  "text/javascript; charset=utf-8",
	"tables.js":  "text/javascript; charset=utf-8",
	"trace.js":   "text/javascript; charset=utf-8",
}

// endpoint answers a request with a value for JSON.
type endpoint func(h *Handler, r *http.Request) (any, error)

var endpoints = map[string]endpoint{
	"ends.json":     (*Handler).serveEnds,
	"series.json":   (*Handler).series,
	"samples.json":  (*Handler).samples,
	"events.json":   (*Handler).events,
	"logs.json":     (*Handler).logs,
	"players.json":  (*Handler).players,
	"entities.json": (*Handler).entities,
	"values.json":   (*Handler).values,
	"sight.json":    (*Handler).sight,
	"sights.json":   (*Handler).sights,
	"prefabs.json":  (*Handler).prefabs,
	"systems.json":  (*Handler).systems,
	"trace.json":    (*Handler).trace,
	"edit":          (*Handler).edit,
}

// downloads are written as they are made.
var downloads = map[string]func(h *Handler, w http.ResponseWriter, r *http.Request) error{
	"graph.dot":    (*Handler).graph,
	"export.jsonl": (*Handler).jsonl,
	"chrome.json":  (*Handler).chrome,
	"trace.export": (*Handler).exportTrace,
}

// ServeHTTP serves the page and its endpoints: the last part of the path chooses one.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-store")
	name := path.Base(r.URL.Path)
	if strings.HasSuffix(r.URL.Path, "/") {
		name = "index.html"
	}
	if h.cfg.Authorize == nil && r.Method == http.MethodGet && h.key.change(w, r) {
		return
	}
	if why := h.refusal(r, name == "index.html"); why != "" {
		fail(w, http.StatusForbidden, why)
		return
	}
	if status, why := h.bounded(r, name); status != 0 {
		fail(w, status, why)
		return
	}
	if name == "stream" {
		h.stream(w, r)
		return
	}
	select {
	case h.gate.atOnce <- struct{}{}:
		defer func() { <-h.gate.atOnce }()
	default:
		fail(w, http.StatusServiceUnavailable, "too many requests at once")
		return
	}
	h.servePage(w, r, name)
}

// bounded returns the status of a request that is refused for its size, method or number.
func (h *Handler) bounded(r *http.Request, name string) (status int, why string) {
	select {
	case <-h.ended:
		return http.StatusServiceUnavailable, "the inspector is closed"
	default:
	}
	switch {
	case !h.gate.takeRequest(time.Now()):
		return http.StatusTooManyRequests, "too many requests a second"
	case len(r.URL.RawQuery) > mostQuery:
		return http.StatusRequestURITooLong, "the query is too long"
	case name == "edit" && r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "an edit is a POST"
	case name != "edit" && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "use GET"
	case name != "edit" && r.ContentLength != 0:
		return http.StatusRequestEntityTooLarge, "a GET has no body"
	}
	return 0, ""
}

func (h *Handler) servePage(w http.ResponseWriter, r *http.Request, name string) {
	if kind, ok := kinds[name]; ok {
		b, err := files.ReadFile("page/" + name)
		if err != nil {
			fail(w, http.StatusNotFound, "no such file")
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(b)
		return
	}
	if name == "edit" {
		if why := h.refusalOfEdit(r); why != "" {
			fail(w, http.StatusForbidden, why)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostEdit)
	}
	defer h.watch.beginRequest()()
	if write, ok := downloads[name]; ok {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
		if err := write(h, w, r); err != nil {
			answer(w, nil, err) // where nothing was written yet
		}
		return
	}
	get, ok := endpoints[name]
	if !ok {
		fail(w, http.StatusNotFound, "there is no "+strconv.Quote(name)+" here: mount the handler at a path that ends with a slash")
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), askPatience)
	defer stop()
	v, err := get(h, r.WithContext(ctx))
	answer(w, v, err)
}

// answer writes a value or an error as JSON.
func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		status := http.StatusBadRequest
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			status = http.StatusRequestEntityTooLarge
		case errors.Is(err, inspect.ErrNoEnd), errors.Is(err, ecs.ErrStale):
			status = http.StatusNotFound
		case errors.Is(err, inspect.ErrBusy):
			status = http.StatusServiceUnavailable
		case errors.Is(err, context.DeadlineExceeded):
			status = http.StatusGatewayTimeout
		}
		fail(w, status, err.Error())
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	if err := e.Encode(v); err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(slowReader))
	_, _ = w.Write(b.Bytes())
}

func fail(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why})
}

func (h *Handler) serveEnds(*http.Request) (any, error) {
	token := ""
	if h.cfg.AllowEdit {
		token = h.token
	}
	return map[string]any{"ends": h.in.Ends(), "edit": h.cfg.AllowEdit, "token": token}, nil
}

func (h *Handler) series(r *http.Request) (any, error) { return h.in.Series(r.FormValue("end")) }

func (h *Handler) samples(r *http.Request) (any, error) {
	from, err := whole(r, "from", 64)
	if err != nil {
		return nil, err
	}
	most, err := whole(r, "most", 16)
	if err != nil {
		return nil, err
	}
	if most == 0 {
		most = 300
	}
	return h.in.Samples(r.FormValue("end"), from, int(most))
}

func (h *Handler) eventQuery(r *http.Request) (q inspect.EventQuery, err error) {
	q = inspect.EventQuery{End: r.FormValue("end"), Kind: r.FormValue("kind"), Text: r.FormValue("q")}
	if q.After, err = whole(r, "after", 64); err != nil {
		return q, err
	}
	most, err := whole(r, "most", 12)
	q.Most = int(most)
	return q, err
}

func (h *Handler) events(r *http.Request) (any, error) {
	q, err := h.eventQuery(r)
	if err != nil {
		return nil, err
	}
	return list(h.in.Events(q)), nil
}

func (h *Handler) logs(r *http.Request) (any, error) {
	q, err := h.eventQuery(r)
	if err != nil {
		return nil, err
	}
	return list(h.in.Logs(q)), nil
}

func list[T any](of []T) []T {
	if of == nil {
		return []T{} // and not null
	}
	return of
}

func (h *Handler) players(r *http.Request) (any, error) {
	all, err := h.in.Players(r.Context(), r.FormValue("end"))
	return list(all), err
}

func (h *Handler) entities(r *http.Request) (any, error) {
	most, err := whole(r, "most", 16)
	if err != nil {
		return nil, err
	}
	all, err := h.in.Entities(r.Context(), r.FormValue("end"), inspect.EntityQuery{Text: r.FormValue("q"), Most: int(most)})
	all.List = list(all.List)
	return all, err
}

func (h *Handler) values(r *http.Request) (any, error) {
	id, err := whole(r, "entity", 64)
	if err != nil {
		return nil, err
	}
	return h.in.Values(r.Context(), r.FormValue("end"), inspect.EntityID(id))
}

func (h *Handler) sight(r *http.Request) (any, error) {
	id, err := whole(r, "entity", 64)
	if err != nil {
		return nil, err
	}
	player, err := whole(r, "player", 16)
	if err != nil {
		return nil, err
	}
	return h.in.Sight(r.Context(), r.FormValue("end"), uint16(player), inspect.EntityID(id))
}

func (h *Handler) sights(r *http.Request) (any, error) {
	player, err := whole(r, "player", 16)
	if err != nil {
		return nil, err
	}
	most, err := whole(r, "most", 16)
	if err != nil {
		return nil, err
	}
	q := inspect.SightsQuery{Text: r.FormValue("q"), Unseen: r.FormValue("unseen") != "", Most: int(most)}
	all, err := h.in.Sights(r.Context(), r.FormValue("end"), uint16(player), q)
	all.List = list(all.List)
	return all, err
}

// trace looks at a trace, as an open page does: so it arms the trace, which lapses 30 seconds
// after the last request.
func (h *Handler) trace(r *http.Request) (any, error) {
	player, err := whole(r, "player", 16)
	if err != nil {
		return nil, err
	}
	after, err := whole(r, "after", 32)
	if err != nil {
		return nil, err
	}
	q := inspect.TraceQuery{Player: uint16(player), After: inspect.Tick(after)}
	for _, text := range r.Form["entity"] {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("entity is %.40q: use the id of entities.json", text)
		}
		q.Entities = append(q.Entities, inspect.EntityID(id))
	}
	t, err := h.in.Trace(r.FormValue("end"), q)
	t.Tables = list(t.Tables)
	return t, err
}

func (h *Handler) prefabs(r *http.Request) (any, error) { return h.in.Prefabs(r.FormValue("end")) }
func (h *Handler) systems(r *http.Request) (any, error) { return h.in.Systems(r.FormValue("end")) }

// edit sets a value.
func (h *Handler) edit(r *http.Request) (any, error) {
	var ed struct {
		End string `json:"end"`
		inspect.Edit
	}
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&ed); err != nil {
		return nil, fmt.Errorf("the body is not an edit: %w", err)
	}
	if d.More() {
		return nil, errors.New("the body has more than an edit")
	}
	before, err := h.in.Edit(r.Context(), ed.End, ed.Edit)
	if err != nil {
		return nil, err
	}
	return map[string]any{"before": before}, nil
}

func (h *Handler) graph(w http.ResponseWriter, r *http.Request) error {
	_, dot, err := h.in.Graph(r.FormValue("end"))
	if err != nil {
		return err
	}
	download(w, "text/vnd.graphviz", "systems.dot")
	_, err = w.Write([]byte(dot))
	return err
}

func (h *Handler) jsonl(w http.ResponseWriter, _ *http.Request) error {
	download(w, "application/jsonl", "inspect.jsonl")
	return h.in.WriteJSONL(w)
}

func (h *Handler) chrome(w http.ResponseWriter, _ *http.Request) error {
	download(w, "application/json", "inspect-trace.json")
	return h.in.WriteChromeTrace(w)
}

// exportTrace saves a trace, to be compared with a tape of the server.
func (h *Handler) exportTrace(w http.ResponseWriter, r *http.Request) error {
	player, err := whole(r, "player", 16)
	if err != nil {
		return err
	}
	b, err := h.in.ExportTrace(r.FormValue("end"), uint16(player))
	if err != nil {
		return err
	}
	download(w, "application/octet-stream", "client.trace")
	_, err = w.Write(b)
	return err
}

func download(w http.ResponseWriter, kind, name string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// whole reads a whole number of so many bits from the query; 0 without one.
func whole(r *http.Request, name string, bits int) (uint64, error) {
	text := r.FormValue(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%s is %.40q: use a whole number, 0 or more", name, text)
	}
	return n, nil
}
