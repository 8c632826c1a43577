package ticket

import "crypto/rand"

// Remembered returns how many used tickets a gate remembers.
func Remembered(g *Gate) int { return len(g.used) }

// Seal seals any bytes.
func Seal(key, plain []byte) []byte {
	aead, err := sealer(key)
	if err != nil {
		panic(err)
	}
	b := make([]byte, sealedHeader)
	b[0] = version
	rand.Read(b[1:])
	return aead.Seal(b, b[1:], plain, b[:1])
}
