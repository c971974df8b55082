package lambda

// partly says what operations that are served do not do.
var partly = map[string]string{
	"AddPermission": "kept, and evaluated for nobody",
	"CreateFunction": "no layers, container images, VPC, file systems and code signing; tracing and SnapStart are " +
		"kept without effect",
	"PutFunctionEventInvokeConfig": "buckets are no destinations",
	"UpdateFunctionConfiguration":  "as CreateFunction",
}
