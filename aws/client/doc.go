// Package client calls any operation of any AWS service, by its model: it writes the request in one of the service's
// protocols, signs and sends it, and reads the answer or the error. Inputs and outputs are documents, as package model
// describes them.
//
// A call is one request: the package never calls twice, never follows a redirect, looks no endpoint up and reads no
// environment. Event streams are refused.
package client
