package org.dubbowire.rig.rest;

import javax.ws.rs.client.ClientRequestContext;
import javax.ws.rs.client.ClientRequestFilter;
import javax.ws.rs.client.ClientResponseContext;
import javax.ws.rs.client.ClientResponseFilter;
import javax.ws.rs.container.ContainerRequestContext;
import javax.ws.rs.container.ContainerRequestFilter;
import org.dubbowire.rig.truth.CallLine;

/** Notes verb, path and status for the line of the call; the status at the consumer only, because a provider's line is written before its answer. */
public final class RestNotes implements ClientRequestFilter, ClientResponseFilter, ContainerRequestFilter {
    @Override
    public void filter(ClientRequestContext request) {
        CallLine.http(request.getMethod(), request.getUri().getRawPath(), 0);
    }

    @Override
    public void filter(ClientRequestContext request, ClientResponseContext response) {
        CallLine.http(request.getMethod(), request.getUri().getRawPath(), response.getStatus());
    }

    @Override
    public void filter(ContainerRequestContext request) {
        CallLine.http(request.getMethod(), request.getUriInfo().getRequestUri().getRawPath(), 0);
    }
}
