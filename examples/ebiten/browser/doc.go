// Package browser has the test that plays in a browser: two tabs of a headless Chromium
// in one match.
package browser
