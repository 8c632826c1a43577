// Package screenshot writes what a window shows to a file.
package screenshot

import (
	"errors"
	"image"
	"image/png"
	"os"

	"github.com/hajimehoshi/ebiten/v2"
)

// Write writes the image that Draw has drawn to a PNG file. Call it at the end of Draw.
func Write(screen *ebiten.Image, file string) error {
	img := image.NewRGBA(screen.Bounds())
	screen.ReadPixels(img.Pix)
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, img), f.Close())
}
