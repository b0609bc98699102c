package look

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"slices"
)

// GIF writes pictures of the same size as an animated GIF, each shown for the given
// hundredths of a second. It uses the most frequent colours of the pictures; each other
// colour becomes the nearest of these.
func GIF(w io.Writer, pictures [][]byte, hundredths int) error {
	var frames []image.Image
	count := map[color.RGBA]int{}
	for i, data := range pictures {
		frame, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("reading picture %d: %w", i+1, err)
		}
		frames = append(frames, frame)
		for y := range frame.Bounds().Dy() {
			for x := range frame.Bounds().Dx() {
				count[coarse(frame.At(x, y))]++
			}
		}
	}
	colours := make([]color.RGBA, 0, len(count))
	for c := range count {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.RGBA) int { return count[b] - count[a] })
	var palette color.Palette
	for _, c := range colours[:min(256, len(colours))] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for _, c := range colours {
		nearest[c] = uint8(palette.Index(c))
	}
	moving := gif.GIF{}
	for _, frame := range frames {
		size := frame.Bounds()
		drawn := image.NewPaletted(size, palette)
		for y := range size.Dy() {
			for x := range size.Dx() {
				drawn.SetColorIndex(x, y, nearest[coarse(frame.At(x, y))])
			}
		}
		moving.Image, moving.Delay = append(moving.Image, drawn), append(moving.Delay, hundredths)
	}
	return gif.EncodeAll(w, &moving)
}

// coarse rounds a colour, which reduces the number of shades at the edges of letters.
func coarse(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	round := func(v uint32) uint8 { return uint8(min(255, (v>>8+4)/8*8)) }
	return color.RGBA{round(r), round(g), round(b), 255}
}
