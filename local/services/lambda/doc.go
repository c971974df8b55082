// Package lambda serves the REST API of AWS Lambda: it finds the operation for a method and path, validates the
// request against Lambda's API model (version 2015-03-31 and the later paths of the same service), and writes
// responses and errors as Lambda does. It takes region and account from the credential scope of the request's
// signature, but does not verify the signature.
//
// It stores nothing and runs nothing: package functions does.
package lambda
