package org.dubbowire.rig.rest;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import java.util.List;
import javax.ws.rs.Consumes;
import javax.ws.rs.CookieParam;
import javax.ws.rs.DELETE;
import javax.ws.rs.FormParam;
import javax.ws.rs.GET;
import javax.ws.rs.HeaderParam;
import javax.ws.rs.MatrixParam;
import javax.ws.rs.POST;
import javax.ws.rs.PUT;
import javax.ws.rs.Path;
import javax.ws.rs.PathParam;
import javax.ws.rs.Produces;
import javax.ws.rs.QueryParam;
import javax.ws.rs.core.MediaType;

/** What REST can ask for: verbs, parameters in all places, bodies of all kinds, failures. */
@Path("edge")
@Produces(MediaType.APPLICATION_JSON)
public interface RestThings {
    @GET
    @Path("users/{id}")
    BidRequest user(@PathParam("id") long id);

    @PUT
    @Path("users/{id}")
    @Consumes(MediaType.APPLICATION_JSON)
    void put(@PathParam("id") long id, BidRequest user);

    @Patch
    @Path("users/{id}")
    @Consumes(MediaType.APPLICATION_JSON)
    BidRequest patch(@PathParam("id") long id, BidRequest user);

    @DELETE
    @Path("users/{id}")
    void delete(@PathParam("id") long id);

    @GET
    @Path("users")
    List<BidRequest> users(@QueryParam("count") int count);

    @POST
    @Path("users")
    @Consumes(MediaType.APPLICATION_JSON)
    BidRequest create(BidRequest user);

    @GET
    @Path("orders/{order}/lines/{line}")
    @Produces(MediaType.TEXT_PLAIN)
    String line(@PathParam("order") String order, @PathParam("line") int line);

    @GET
    @Path("days/{day}")
    @Produces(MediaType.TEXT_PLAIN)
    String day(@PathParam("day") String day);

    @GET
    @Path("words/{word}")
    @Produces("text/plain;charset=UTF-8")
    String word(@PathParam("word") String word);

    @GET
    @Path("search")
    @Produces("text/plain;charset=UTF-8")
    String search(@QueryParam("q") String query, @QueryParam("page") int page, @QueryParam("tag") List<String> tags);

    @POST
    @Path("form")
    @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
    @Produces("text/plain;charset=UTF-8")
    String form(@FormParam("name") String name, @FormParam("age") int age, @FormParam("note") String note);

    @GET
    @Path("headers")
    @Produces("text/plain;charset=UTF-8")
    String headers(@HeaderParam("X-Trace-Id") String trace, @CookieParam("session") String session);

    @GET
    @Path("matrix/{who}")
    @Produces("text/plain;charset=UTF-8")
    String matrix(@PathParam("who") String who, @MatrixParam("color") String color, @MatrixParam("size") int size);

    /** The bytes are not taken apart. */
    @POST
    @Path("upload")
    @Consumes(MediaType.MULTIPART_FORM_DATA)
    @Produces(MediaType.TEXT_PLAIN)
    String upload(byte[] parts);

    @POST
    @Path("text")
    @Consumes(MediaType.TEXT_PLAIN)
    @Produces("text/plain;charset=UTF-8")
    String text(String text);

    @POST
    @Path("bytes")
    @Consumes(MediaType.APPLICATION_OCTET_STREAM)
    @Produces(MediaType.APPLICATION_OCTET_STREAM)
    byte[] bytes(byte[] bytes);

    @GET
    @Path("nothing")
    BidRequest nothing();

    @GET
    @Path("empty")
    @Produces(MediaType.TEXT_PLAIN)
    String empty();

    @GET
    @Path("fail")
    String fail(@QueryParam("how") String how) throws Exception;

    @GET
    @Path("large")
    @Produces(MediaType.TEXT_PLAIN)
    String large(@QueryParam("size") int size);
}
