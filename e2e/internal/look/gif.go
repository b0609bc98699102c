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
	palette := color.Palette{color.Transparent}
	for _, c := range colours[:min(255, len(colours))] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for _, c := range colours {
		nearest[c] = uint8(1 + palette[1:].Index(c))
	}
	moving := gif.GIF{}
	var before *image.Paletted
	for _, frame := range frames {
		drawn := image.NewPaletted(frame.Bounds(), palette)
		for i := range drawn.Pix {
			drawn.Pix[i] = nearest[coarse(frame.At(i%drawn.Stride, i/drawn.Stride))]
		}
		moving.Image, moving.Delay = append(moving.Image, changed(drawn, before)), append(moving.Delay, hundredths)
		moving.Disposal = append(moving.Disposal, gif.DisposalNone)
		before = drawn
	}
	return gif.EncodeAll(w, &moving)
}

// changed returns a frame with what has not changed since the frame before left out: it stays
// on show.
func changed(frame, before *image.Paletted) *image.Paletted {
	if before == nil {
		return frame
	}
	out := image.NewPaletted(frame.Rect, frame.Palette)
	area := image.Rectangle{}
	for i, c := range frame.Pix {
		if c == before.Pix[i] {
			continue
		}
		out.Pix[i] = c
		at := image.Pt(i%frame.Stride, i/frame.Stride)
		area = area.Union(image.Rectangle{Min: at, Max: at.Add(image.Pt(1, 1))})
	}
	return out.SubImage(area).(*image.Paletted)
}

// coarse rounds a colour, which reduces the number of shades at the edges of letters.
func coarse(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	round := func(v uint32) uint8 { return uint8(min(255, (v>>8+4)/8*8)) }
	return color.RGBA{round(r), round(g), round(b), 255}
}
