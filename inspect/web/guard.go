package web

import (
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of requests.
const (
	mostQuery   = 2 << 10 // bytes of a query
	mostEdit    = 4 << 10 // bytes of an edit
	mostAtOnce  = 32      // requests, streams apart
	mostASecond = 50      // requests, on average
	mostInARow  = 200     // requests, at once
	askPatience = 2 * time.Second
	slowReader  = 5 * time.Second // until a write to it must have ended
	headerToken = "X-Foretick-Token"
)

// refusedKey is what a request without the key is told.
const refusedKey = "only who has the key may look: open the address with ?" + keyWord + "= that the program's log shows, or set web.Config.Authorize"

// refusal returns why a request may not look, or "".
func (h *Handler) refusal(r *http.Request, page bool) string {
	switch {
	case h.cfg.Authorize == nil && !h.key.kept(r):
		return refusedKey
	case h.cfg.Authorize != nil && !h.cfg.Authorize(r):
		return "web.Config.Authorize refused the request"
	}
	return foreign(r, page)
}

// foreign returns why a request of another origin's page is refused, or "". Following a link
// to the page is fine. Where a browser says itself who asks, that decides: a proxy may have
// put another host into the request.
func foreign(r *http.Request, page bool) string {
	const why = "another origin's page may not look"
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "none", "same-origin":
		return ""
	case "":
		if origin, has := r.Header["Origin"]; has && (len(origin) != 1 || !sameOrigin(origin[0], r.Host)) {
			return why + " (a proxy has to pass the header Host on: the page's is " + strings.Join(origin, ", ") + ", the request's " + r.Host + ")"
		}
		return ""
	default:
		if page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
			return ""
		}
		return why
	}
}

func sameOrigin(origin, host string) bool {
	of, ok := strings.CutPrefix(origin, "http://")
	if !ok {
		of, ok = strings.CutPrefix(origin, "https://")
	}
	return ok && host != "" && strings.EqualFold(of, host)
}

// refusalOfEdit returns why a request may not change anything, or "".
func (h *Handler) refusalOfEdit(r *http.Request) string {
	switch {
	case !h.cfg.AllowEdit:
		return "edits are off: set web.Config.AllowEdit"
	case len(r.Header["Origin"]) != 1:
		return "an edit needs an Origin header of this page"
	case subtle.ConstantTimeCompare([]byte(r.Header.Get(headerToken)), []byte(h.token)) != 1:
		return "an edit needs the token of ends.json in the header " + headerToken
	case r.Header.Get("Content-Type") != "application/json":
		return "an edit is application/json"
	}
	return ""
}

// gate bounds how many requests are served.
type gate struct {
	atOnce  chan struct{}
	mu      sync.Mutex
	streams int
	tokens  float64
	filled  time.Time
}

func newGate() gate {
	return gate{atOnce: make(chan struct{}, mostAtOnce), tokens: mostInARow}
}

// takeRequest counts a request, and reports whether it may be served.
func (g *gate) takeRequest(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.filled.IsZero() {
		g.tokens = min(g.tokens+now.Sub(g.filled).Seconds()*mostASecond, mostInARow)
	}
	if g.filled = now; g.tokens < 1 {
		return false
	}
	g.tokens--
	return true
}

// stream counts an open stream, and reports whether there may be one more.
func (g *gate) stream(by, most int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.streams+by > most {
		return false
	}
	g.streams += by
	return true
}
