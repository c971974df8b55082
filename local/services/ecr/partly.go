package ecr

// partly maps operations that are supported in part to what they lack.
var partly = map[string]string{
	"CreateRepository":    "nothing can be pushed to it; encryption and scanning are stored without effect",
	"PutLifecyclePolicy":  "stored without effect; there are no images",
	"SetRepositoryPolicy": "stored; never evaluated",
}
