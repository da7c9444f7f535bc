package broker

// Server is what a broker says of itself and of the connection.
type Server struct {
	Product  string
	Version  string
	Endpoint string // host:port of the connection
	FrameMax int    // bytes; 0: no limit
}
