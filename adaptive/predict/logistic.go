package predict

import "math"

// Logistic is a logistic regression on standardised features.
type Logistic struct {
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"`
	Intercept float64   `json:"intercept"`
	Weights   []float64 `json:"weights"`
}

// ridge is the penalty on the square of each weight; the intercept is free.
const ridge = 1.0

// fitLogistic fits by Newton's method (iteratively reweighted least squares) until steps are negligible.
func fitLogistic(xs [][]float64, ys []float64) Logistic {
	m := standardised(xs)
	n := len(m.Mean) + 1
	beta := make([]float64, n)
	row := make([]float64, n)
	for range 50 {
		gradient, hessian := make([]float64, n), make([][]float64, n)
		for i := range hessian {
			hessian[i] = make([]float64, n)
		}
		for k, x := range xs {
			m.standardise(x, row)
			p := sigmoid(dot(row, beta))
			w := max(p*(1-p), 1e-9)
			for i := range row {
				gradient[i] += row[i] * (ys[k] - p)
				for j := range i + 1 {
					hessian[i][j] += w * row[i] * row[j]
				}
			}
		}
		for i := range n {
			if i > 0 {
				gradient[i] -= ridge * beta[i]
				hessian[i][i] += ridge
			}
			hessian[i][i] += 1e-9
			for j := range i {
				hessian[j][i] = hessian[i][j]
			}
		}
		var largest float64
		for i, d := range solve(hessian, gradient) {
			d = min(max(d, -5), 5) // far from the optimum a step may be too long
			beta[i] += d
			largest = max(largest, math.Abs(d))
		}
		if largest < 1e-8 {
			break
		}
	}
	m.Intercept, m.Weights = beta[0], beta[1:]
	return m
}

func standardised(xs [][]float64) Logistic {
	width := len(xs[0])
	m := Logistic{Mean: make([]float64, width), Deviation: make([]float64, width)}
	for _, x := range xs {
		for i, v := range x {
			m.Mean[i] += v / float64(len(xs))
		}
	}
	for _, x := range xs {
		for i, v := range x {
			m.Deviation[i] += (v - m.Mean[i]) * (v - m.Mean[i]) / float64(len(xs))
		}
	}
	for i, v := range m.Deviation {
		if m.Deviation[i] = math.Sqrt(v); m.Deviation[i] < 1e-12 {
			m.Deviation[i] = 1 // a feature that never changes carries no information
		}
	}
	return m
}

// standardise writes 1 and the standardised features to row.
func (m *Logistic) standardise(x, row []float64) {
	row[0] = 1
	for i, v := range x {
		row[i+1] = (v - m.Mean[i]) / m.Deviation[i]
	}
}

func (m *Logistic) predict(x []float64) float64 {
	sum := m.Intercept
	for i, v := range x {
		sum += m.Weights[i] * (v - m.Mean[i]) / m.Deviation[i]
	}
	return sigmoid(sum)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func dot(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// solve solves a symmetric positive definite system by Cholesky's decomposition.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	l := make([][]float64, n)
	for i := range n {
		l[i] = make([]float64, i+1)
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(max(sum, 1e-12))
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	x := make([]float64, n)
	for i := range n {
		x[i] = b[i]
		for k := range i {
			x[i] -= l[i][k] * x[k]
		}
		x[i] /= l[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x
}
