package scenario

// DistributionKind is the kind of a distribution of times.
type DistributionKind string

// The distributions.
const (
	DistributionConstant  DistributionKind = "constant"
	DistributionExp       DistributionKind = "exp"
	DistributionLognormal DistributionKind = "lognormal"
	DistributionGamma     DistributionKind = "gamma"
	DistributionEmpirical DistributionKind = "empirical" // one of Samples, with equal probability
)

// Distribution is a distribution of times in seconds.
type Distribution struct {
	Kind DistributionKind
	// Mean is the mean. CV is the standard deviation as a multiple of the mean (lognormal and gamma only).
	Mean, CV float64
	// Samples are the values of an empirical distribution.
	Samples []float64
}
