package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Bounds of requests.
const (
	mostQuery    = 2 << 10 // bytes of a query
	mostEdit     = 4 << 10 // bytes of an edit
	mostAtOnce   = 32      // requests, streams apart
	mostASecond  = 50      // requests, on average
	mostInARow   = 200     // requests, at once
	askPatience  = 2 * time.Second
	slowReader   = 5 * time.Second // until a write to it must have ended
	headerToken  = "X-Foretick-Token"
	refusedProxy = "the request was forwarded by a proxy: set web.Config.Authorize, and check there who asks"
)

// proxies are the headers that proxies add.
var proxies = []string{
	"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server",
	"X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Forwarded-For", "Cf-Connecting-Ip", "True-Client-Ip", "Fastly-Client-Ip", "Fly-Client-Ip",
}

// refusal returns why a request may not look, or "".
func (h *Handler) refusal(r *http.Request, page bool) string {
	if h.cfg.Authorize != nil {
		if !h.cfg.Authorize(r) {
			return "web.Config.Authorize refused the request"
		}
		return foreign(r, page)
	}
	for _, name := range proxies {
		if _, has := r.Header[name]; has {
			return refusedProxy
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return "only this machine may look: set web.Config.Authorize to let others in"
	}
	if !local(r.Host) {
		return "the host is not this machine's: use localhost or 127.0.0.1"
	}
	return foreign(r, page)
}

// local reports whether a host is a name of this machine. A foreign page whose name leads
// here has another.
func local(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// foreign returns why a request of another origin's page is refused, or "". Following a link
// to the page is fine.
func foreign(r *http.Request, page bool) string {
	const why = "another origin's page may not look"
	if origin, has := r.Header["Origin"]; has && (len(origin) != 1 || !sameOrigin(origin[0], r.Host)) {
		return why
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
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

// take counts a request, and reports whether it may be served.
func (g *gate) take(now time.Time) bool {
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
