package predict

import "math"

// Calibration corrects probabilities by Platt's method: the log odds become Intercept + Slope × log odds.
type Calibration struct {
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"`
}

// doubt is the standard deviation of the prior of a calibration's intercept and slope, around 0 and 1. A calibration
// on few examples, or on the examples of one outage, therefore changes little.
const doubt = 0.5

// fitCalibration fits a calibration by Newton's method.
func fitCalibration(ps, outcomes []float64) Calibration {
	c := Calibration{Slope: 1}
	for range 50 {
		gradient := []float64{-c.Intercept / (doubt * doubt), (1 - c.Slope) / (doubt * doubt)}
		hessian := [][]float64{{1 / (doubt * doubt), 0}, {0, 1 / (doubt * doubt)}}
		for i, p := range ps {
			x := logit(p)
			q := sigmoid(c.Intercept + c.Slope*x)
			w := max(q*(1-q), 1e-9)
			gradient[0] += outcomes[i] - q
			gradient[1] += (outcomes[i] - q) * x
			hessian[0][0] += w
			hessian[0][1] += w * x
			hessian[1][0] = hessian[0][1]
			hessian[1][1] += w * x * x
		}
		step := solve(hessian, gradient)
		c.Intercept += min(max(step[0], -1), 1)
		c.Slope += min(max(step[1], -1), 1)
		if math.Abs(step[0])+math.Abs(step[1]) < 1e-9 {
			break
		}
	}
	return c
}

// at returns the calibrated probability, which is never 0 or 1.
func (c *Calibration) at(p float64) float64 {
	return min(max(sigmoid(c.Intercept+c.Slope*logit(p)), 1e-4), 1-1e-4)
}

// logit returns the log odds of a probability, within ±9.2.
func logit(p float64) float64 {
	p = min(max(p, 1e-4), 1-1e-4)
	return math.Log(p / (1 - p))
}
