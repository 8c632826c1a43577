// Package browser has the test that plays in a browser: two tabs of a headless Chromium join
// the same match.
package browser
