package graph

import (
	"cmp"
	"slices"
)

// order sorts the vertices of each layer so that few lines cross.
func (l *layout) order() {
	const rounds = 6
	best, kept := l.crossings(), l.places()
	for round := range rounds {
		if best == 0 {
			break
		}
		down := round%2 == 0
		for i := range l.layers {
			at := i
			if !down {
				at = len(l.layers) - 1 - i
			}
			l.sortLayer(at, down)
		}
		if n := l.crossings(); n < best {
			best, kept = n, l.places()
		}
	}
	for i := range l.layers {
		slices.SortFunc(l.layers[i], func(a, b *vertex) int { return cmp.Compare(kept[a], kept[b]) })
		for p, v := range l.layers[i] {
			v.place = p
		}
	}
}

func (l *layout) places() map[*vertex]int {
	at := map[*vertex]int{}
	for _, layer := range l.layers {
		for p, v := range layer {
			at[v] = p
		}
	}
	return at
}

// sortLayer sorts the vertices of a layer by the positions of their neighbours in the layer above or below.
func (l *layout) sortLayer(layer int, down bool) {
	mean := map[*vertex]float64{}
	for _, v := range l.layers[layer] {
		beside := v.up
		if !down {
			beside = v.down
		}
		sum, n := 0.0, 0.0
		for _, b := range beside {
			sum += float64(b.v.place) * b.weight
			n += b.weight
		}
		mean[v] = float64(v.place)
		if n > 0 {
			mean[v] = sum / n
		}
	}
	slices.SortStableFunc(l.layers[layer], func(a, b *vertex) int { return cmp.Compare(mean[a], mean[b]) })
	for p, v := range l.layers[layer] {
		v.place = p
	}
}

// crossings returns the number of line crossings.
func (l *layout) crossings() int {
	n := 0
	for _, layer := range l.layers {
		type line struct{ from, to int }
		var lines []line
		for _, v := range layer {
			for _, d := range v.down {
				lines = append(lines, line{v.place, d.v.place})
			}
		}
		for i, a := range lines {
			for _, b := range lines[i+1:] {
				if (a.from-b.from)*(a.to-b.to) < 0 {
					n++
				}
			}
		}
	}
	return n
}
