package mathf_test

import (
	"fmt"

	"github.com/foretick/foretick/mathf"
)

// A body that moves where it looks. The products are rounded before they are added.
func ExampleSincos() {
	var x, y float32
	const angle, step = mathf.Pi / 6, 0.5
	for range 4 {
		sin, cos := mathf.Sincos(angle)
		x += float32(cos * step)
		y += float32(sin * step)
	}
	fmt.Println(x, y, mathf.Hypot(x, y))
	// Output: 1.7320508 1 2
}
