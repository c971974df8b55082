package s3objects

import "stepback/aws/objects"

// Objects is a csvimport.Objects.
type Objects struct{ client objects.Store }

// New returns Objects over an S3 client, which should make only one attempt per request.
func New(client objects.Store) *Objects { return &Objects{client} }
