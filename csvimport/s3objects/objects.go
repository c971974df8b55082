package s3objects

import "stepback/aws/objects"

// Objects is a csvimport.Objects.
type Objects struct{ client objects.Store }

// New takes a client of S3, which should make one attempt only.
func New(client objects.Store) *Objects { return &Objects{client} }
