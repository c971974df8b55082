// Package client calls any operation of any AWS service by its model: it serializes the request in one of the
// service's protocols, signs and sends it, and decodes the response or the error. Inputs and outputs are documents,
// as described in package model.
//
// A call is one request: the package never calls twice, never follows a redirect, looks up no endpoints and reads no
// environment variables. Event streams are not supported.
package client
