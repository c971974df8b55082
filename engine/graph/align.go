package graph

import (
	"math"
	"slices"

	"stepback/asl"
)

// align gives every vertex its position, in line with its neighbours as far as the vertices beside it permit.
func (l *layout) align() {
	y := 0.0
	l.heights = make([]float64, len(l.layers))
	for i, layer := range l.layers {
		for _, v := range layer {
			if v.Node != nil {
				l.heights[i] = max(l.heights[i], v.Height)
			}
		}
		x := 0.0
		for p, v := range layer {
			if p > 0 {
				x += apart(layer[p-1], v)
			}
			v.at = Point{x, y + l.heights[i]/2}
		}
		y += l.heights[i] + l.gap(i)
	}
	y -= l.gap(len(l.layers) - 1)
	const rounds = 12
	for round := range rounds {
		for i := range l.layers {
			if round%2 == 0 {
				l.settle(i, func(v *vertex) []link { return v.up })
			} else {
				l.settle(len(l.layers)-1-i, func(v *vertex) []link { return v.down })
			}
		}
	}
	for i := range l.layers {
		l.settle(i, func(v *vertex) []link { return append(slices.Clone(v.up), v.down...) })
	}
	left, right := math.Inf(1), math.Inf(-1)
	for _, layer := range l.layers {
		for _, v := range layer {
			left, right = min(left, v.at.X-v.width()/2), max(right, v.at.X+v.width()/2)
		}
	}
	for _, layer := range l.layers {
		for _, v := range layer {
			v.at.X = math.Round(v.at.X - left)
			if v.Node != nil {
				v.X, v.Y = v.at.X-v.Width/2, v.at.Y-v.Height/2
			}
		}
	}
	l.width, l.height = right-left, max(0, y)
}

// gap returns the space below a layer. It is larger if lines have labels there.
func (l *layout) gap(layer int) float64 {
	for _, v := range l.layers[layer] {
		if v.Node != nil && v.Type == asl.Choice {
			return layerGap + labelRoom
		}
	}
	return layerGap
}

// apart returns the minimum distance between the centres of two adjacent vertices.
func apart(a, b *vertex) float64 {
	gap := siblingGap
	if a.Node == nil || b.Node == nil {
		gap = lineGap
	}
	return (a.width()+b.width())/2 + gap
}

// settle moves the vertices of a layer as near as possible to the positions that their neighbours suggest. It keeps
// their order and minimum distances. The method is an isotonic regression, by pooling adjacent violators.
func (l *layout) settle(layer int, beside func(*vertex) []link) {
	type block struct {
		sum, weight float64
		count       int
	}
	var blocks []block
	offsets := make([]float64, len(l.layers[layer]))
	for i, v := range l.layers[layer] {
		if i > 0 {
			offsets[i] = offsets[i-1] + apart(l.layers[layer][i-1], v)
		}
		want, weight := v.at.X, 0.01
		sum, n := 0.0, 0.0
		for _, b := range beside(v) {
			sum += b.v.at.X * b.weight
			n += b.weight
		}
		if n > 0 {
			want, weight = sum/n, n
		}
		blocks = append(blocks, block{(want - offsets[i]) * weight, weight, 1})
		for len(blocks) > 1 {
			a, b := &blocks[len(blocks)-2], blocks[len(blocks)-1]
			if a.sum/a.weight <= b.sum/b.weight {
				break
			}
			a.sum, a.weight, a.count = a.sum+b.sum, a.weight+b.weight, a.count+b.count
			blocks = blocks[:len(blocks)-1]
		}
	}
	i := 0
	for _, b := range blocks {
		for range b.count {
			l.layers[layer][i].at.X = b.sum/b.weight + offsets[i]
			i++
		}
	}
}
