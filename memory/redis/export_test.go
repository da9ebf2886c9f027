package redis

// Rights are the commands that the store's user needs.
var Rights = rights
