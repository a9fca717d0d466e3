package org.dubbowire.rig.rest;

import javax.ws.rs.client.ClientRequestContext;
import javax.ws.rs.client.ClientRequestFilter;

/** Has requests compressed: RESTEasy 3.0.19 does so for this header, but not for its annotation at a parameter, which it looks at on servers only. */
public final class GzipRequests implements ClientRequestFilter {
    @Override
    public void filter(ClientRequestContext request) {
        request.getHeaders().putSingle("Content-Encoding", "gzip");
    }
}
