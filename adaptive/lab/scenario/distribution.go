package scenario

// DistributionKind names a distribution of times.
type DistributionKind string

// The distributions.
const (
	DistributionConstant  DistributionKind = "constant"
	DistributionExp       DistributionKind = "exp"
	DistributionLognormal DistributionKind = "lognormal"
	DistributionGamma     DistributionKind = "gamma"
	DistributionEmpirical DistributionKind = "empirical" // one of Samples, each as likely
)

// Distribution is a distribution of times in seconds.
type Distribution struct {
	Kind DistributionKind
	// Mean is its mean, CV its standard deviation as a multiple of the mean (lognormal and gamma).
	Mean, CV float64
	// Samples are those of empirical.
	Samples []float64
}
