package main

import (
	"encoding/hex"
	"syscall/js"
)

// placeKey names this game's entry in sessionStorage. Each tab has a sessionStorage of its own, which is
// kept when the page is loaded again. In localStorage two tabs would take one place from each other.
const placeKey = "duel.place"

// savedPlace returns the token of the place that this tab had before its page was loaded again, or nil.
func savedPlace() []byte {
	text := js.Global().Get("sessionStorage").Call("getItem", placeKey)
	if text.Type() != js.TypeString {
		return nil
	}
	token, err := hex.DecodeString(text.String())
	if err != nil {
		return nil
	}
	return token
}

// savePlace keeps the token for the next page of this tab.
func savePlace(token []byte) {
	js.Global().Get("sessionStorage").Call("setItem", placeKey, hex.EncodeToString(token))
}
