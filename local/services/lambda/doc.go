// Package lambda serves the REST API of AWS Lambda over HTTP: it finds the operation that a method and path name,
// checks the request against the constraints of Lambda's model (API version 2015-03-31 and the later paths of the same
// service), and writes answers and errors as Lambda does. It takes region and account from the credential scope of the
// request's signature, but it checks no signature.
//
// It keeps nothing and runs nothing: package functions does.
package lambda
