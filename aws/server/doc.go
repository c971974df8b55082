// Package server serves the APIs of AWS services as their models define them (package model). It supports JSON 1.0
// and 1.1, Query, EC2's Query, REST with JSON and with XML, and RPC v2 over CBOR, whichever the client uses.
//
// A service is a Config: the name of its model and a Go function for each operation that it implements. For each
// request, the server finds the operation, decodes the request into a document, and checks it against the model's
// constraints with AWS's error messages. It then passes the document to the function, and encodes the answer or the
// modelled error. Operations without a function return NotImplemented, status 501, with their names.
//
// Functions work on documents (Operation.Call) or on small structures of the members that they need (Handle).
// Errors are *aws.Error; their code is the name of a modelled shape, and their status and members come from the
// model.
//
// The server takes account and region from the credential scope of a request's signature (ScopeOf); it does not
// verify signatures. It limits the size of bodies, including that of compressed bodies, and the time in which they
// must arrive. The package contains no service.
package server
