package game

import "encoding/base64"

// Tables returns the compression tables trained on a match of this game: see the flag
// -learn of the arena. They are the bytes of ../tables.bin, which a package in another
// directory cannot embed.
func Tables() []byte {
	b, err := base64.StdEncoding.DecodeString(learned)
	if err != nil {
		panic(err)
	}
	return b
}
