package ecr

// partly describes what supported operations do not do.
var partly = map[string]string{
	"CreateRepository":    "nothing can be pushed to it; encryption and scanning are kept without effect",
	"PutLifecyclePolicy":  "kept without effect: there are no images",
	"SetRepositoryPolicy": "kept, and evaluated for nobody",
}
