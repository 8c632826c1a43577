package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// keyWord is the word of the query that brings the key.
const keyWord = "key"

// key is the secret of a handler: who brings it may look.
type key struct {
	// secret is 128 random bits in hexadecimal.
	secret string
	// cookie is the name of the cookie that keeps the secret. Browsers send a host's cookies to
	// each of its ports, so each handler has a name of its own.
	cookie string
}

// random returns 128 random bits in hexadecimal.
func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

func newKey() key {
	secret := random()
	name := sha256.Sum256([]byte(secret))
	return key{secret: secret, cookie: "foretick-" + hex.EncodeToString(name[:6])}
}

// query returns the key as a query.
func (k *key) query() string { return keyWord + "=" + k.secret }

// fits reports whether a text is the secret, in a time that does not depend on the text.
func (k *key) fits(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(k.secret)) == 1
}

// kept reports whether a request has the cookie.
func (k *key) kept(r *http.Request) bool {
	c, err := r.Cookie(k.cookie)
	return err == nil && k.fits(c.Value)
}

// change gives a request with the key in its query the cookie, and sends it to the same
// address without the key. It reports false, and does nothing, when the query has no key that fits.
func (k *key) change(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	if !k.fits(query.Get(keyWord)) {
		return false
	}
	query.Del(keyWord)
	// The browser's path may differ from this one behind a proxy. Without a path a cookie
	// holds for the folder that the browser asked in.
	http.SetCookie(w, &http.Cookie{
		Name: k.cookie, Value: k.secret, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https"),
	})
	to := "./"
	if !strings.HasSuffix(r.URL.Path, "/") {
		to += url.PathEscape(path.Base(r.URL.Path))
	}
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusSeeOther)
	default:
		// A browser that followed another site's link sends no strict cookie after a redirect.
		// The page that it opens itself has it.
		w.Header().Set("Refresh", "0; url="+to)
	}
	return true
}
