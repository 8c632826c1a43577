//go:build unix

package proxytest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/ws"
)

// lax keeps cookies that are for HTTPS alone too: in front of these proxies another one has the certificate.
type lax struct{ http.CookieJar }

func (l lax) SetCookies(u *url.URL, all []*http.Cookie) {
	for _, c := range all {
		c.Secure = false
	}
	l.CookieJar.SetCookies(u, all)
}

// TestPage: behind proxies with the shortest settings that their manuals show, the inspector's page is
// closed to who has no key, and complete for who has it.
func TestPage(t *testing.T) {
	proxies(t)
	t.Parallel()
	for _, s := range []setting{
		{kind: &nginx, text: "location /inspect/ { proxy_pass http://$UP; }"},
		{kind: &nginx, name: "another path", text: "location /inspect/ { proxy_pass http://$UP/deep/inside/; proxy_set_header X-Forwarded-Proto https; }"},
		{kind: &caddy, text: "reverse_proxy $UP"},
		{kind: &haproxy, text: tunnel + "backend b\n	timeout server 30s\n	server s $UP"},
	} {
		t.Run(s.kind.name+" "+s.name, func(t *testing.T) {
			t.Parallel()
			e, err := ws.NewServer(ws.Config{})
			require.NoError(t, err)
			h := page(t, host(t, e))
			mux := http.NewServeMux()
			mux.Handle("/inspect/", h)
			mux.Handle("/deep/inside/", h)
			site := httptest.NewServer(mux)
			t.Cleanup(site.Close)
			p := s.kind.run(t, strings.ReplaceAll(s.text, "$UP", site.Listener.Addr().String()))
			at := "http://" + p.addr() + "/inspect/"
			get := func(c *http.Client, url string) (status int, last *url.URL, body io.Reader) {
				res, err := c.Get(url)
				require.NoError(t, err)
				t.Cleanup(func() { _ = res.Body.Close() })
				return res.StatusCode, res.Request.URL, res.Body
			}
			for _, path := range []string{"", "ends.json", "stream", "edit"} {
				status, _, _ := get(http.DefaultClient, at+path)
				require.Equal(t, http.StatusForbidden, status, "a stranger asks for %q", path)
			}
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			operator := &http.Client{Jar: lax{jar}}
			status, last, _ := get(operator, h.URL(at))
			require.Equal(t, http.StatusOK, status)
			require.Empty(t, last.RawQuery)
			var ends struct{ Token string }
			_, _, body := get(operator, at+"ends.json")
			require.NoError(t, json.NewDecoder(body).Decode(&ends))
			require.Len(t, ends.Token, 32)

			_, _, body = get(operator, at+"stream")
			stream := bufio.NewScanner(body)
			var longest time.Duration
			for events, last := 0, time.Now(); events < 30 && stream.Scan(); {
				if strings.HasPrefix(stream.Text(), "data: ") {
					longest, last = max(longest, time.Since(last)), time.Now()
					events++
				}
			}
			t.Logf("%s: %v at most from event to event", s.kind.name, longest.Round(10*time.Millisecond))
			require.Less(t, longest, time.Second, "the stream is not held up")

			// As a browser sends it: whatever host the proxy names, who asks is known.
			edit, err := http.NewRequest(http.MethodPost, at+"edit", strings.NewReader(`{"entity":"1","path":"x.y","value":1}`))
			require.NoError(t, err)
			for k, v := range map[string]string{"Origin": "https://game.example", "Sec-Fetch-Site": "same-origin", "X-Foretick-Token": ends.Token, "Content-Type": "application/json"} {
				edit.Header.Set(k, v)
			}
			res, err := operator.Do(edit)
			require.NoError(t, err)
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.Equal(t, http.StatusBadRequest, res.StatusCode, "%s", b)
			require.Contains(t, string(b), "x.y", "the edit is let in, and there is no such value")
		})
	}
}
