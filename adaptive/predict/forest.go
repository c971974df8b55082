package predict

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Forest is a random forest of classification trees.
type Forest struct {
	Trees [][]Node `json:"trees"`
}

// Node is a node of a tree. A tree is a list of nodes with the root first. A leaf has Left 0 and its share of
// successes in Value. Any other node sends examples whose feature is at most Value to Left, and the rest to Right.
type Node struct {
	Feature int     `json:"f"`
	Value   float64 `json:"v"`
	Left    int     `json:"l,omitempty"`
	Right   int     `json:"r,omitempty"`
}

// The size of the forest: the source's hundred trees, limited in depth and in leaf size to prevent overfitting.
const (
	treeCount   = 100
	deepest     = 6
	leastLeaf   = 20
	mostPerTree = 2000 // examples that a tree is grown from
)

// growForest grows trees from samples with replacement. Each split is the best one by Gini's impurity among a
// random choice of features.
func growForest(xs [][]float64, ys []float64, trees int, seed uint64) Forest {
	var f Forest
	for tree := range trees {
		rnd := rand.New(rand.NewPCG(seed, uint64(tree)))
		rows := make([]int, min(len(xs), mostPerTree))
		for i := range rows {
			rows[i] = rnd.IntN(len(xs))
		}
		g := grower{xs: xs, ys: ys, rnd: rnd, tries: int(math.Ceil(math.Sqrt(float64(len(xs[0])))))}
		g.grow(rows, 0)
		f.Trees = append(f.Trees, g.nodes)
	}
	return f
}

type grower struct {
	xs    [][]float64
	ys    []float64
	rnd   *rand.Rand
	tries int
	nodes []Node
	// sorted is reused by split.
	sorted []point
}

// point is an example's value of one feature, with its outcome.
type point struct{ x, y float64 }

// grow adds the tree for the given rows and returns its root.
func (g *grower) grow(rows []int, depth int) int {
	at := len(g.nodes)
	var successes float64
	for _, r := range rows {
		successes += g.ys[r]
	}
	n := float64(len(rows))
	g.nodes = append(g.nodes, Node{Feature: -1, Value: (successes + 1) / (n + 2)})
	if depth == deepest || len(rows) < 2*leastLeaf || successes == 0 || successes == n {
		return at
	}
	feature, value, ok := g.split(rows, successes)
	if !ok {
		return at
	}
	left := make([]int, 0, len(rows))
	right := make([]int, 0, len(rows))
	for _, r := range rows {
		if g.xs[r][feature] <= value {
			left = append(left, r)
		} else {
			right = append(right, r)
		}
	}
	l := g.grow(left, depth+1)
	r := g.grow(right, depth+1)
	g.nodes[at] = Node{Feature: feature, Value: value, Left: l, Right: r}
	return at
}

// split finds the split with the least impurity among some features.
func (g *grower) split(rows []int, successes float64) (feature int, value float64, ok bool) {
	n := float64(len(rows))
	best := impurity(successes, n)
	for _, f := range g.rnd.Perm(len(g.xs[0]))[:g.tries] {
		g.sorted = g.sorted[:0]
		for _, r := range rows {
			g.sorted = append(g.sorted, point{g.xs[r][f], g.ys[r]})
		}
		slices.SortFunc(g.sorted, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		if g.sorted[0].x == g.sorted[len(rows)-1].x {
			continue
		}
		var below float64
		for i := range len(rows) - leastLeaf {
			below += g.sorted[i].y
			here, next := g.sorted[i].x, g.sorted[i+1].x
			if i+1 < leastLeaf || here == next {
				continue
			}
			k := float64(i + 1)
			if x := impurity(below, k) + impurity(successes-below, n-k); x < best-1e-9 {
				best, feature, value, ok = x, f, here+(next-here)/2, true
			}
		}
	}
	return feature, value, ok
}

// impurity returns Gini's impurity times the number of rows.
func impurity(successes, n float64) float64 {
	p := successes / n
	return 2 * n * p * (1 - p)
}

func (f *Forest) predict(x []float64) float64 {
	var sum float64
	for _, tree := range f.Trees {
		i := 0
		for tree[i].Left > 0 {
			if x[tree[i].Feature] <= tree[i].Value {
				i = tree[i].Left
			} else {
				i = tree[i].Right
			}
		}
		sum += tree[i].Value
	}
	return sum / float64(len(f.Trees))
}
