package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import javax.ws.rs.Consumes;
import javax.ws.rs.GET;
import javax.ws.rs.POST;
import javax.ws.rs.Path;
import javax.ws.rs.PathParam;
import javax.ws.rs.Produces;
import javax.ws.rs.QueryParam;
import javax.ws.rs.core.MediaType;
import org.apache.dubbo.benchmark.bean.Page;
import org.apache.dubbo.benchmark.bean.User;

/** The published services as resources. */
@Path("rig")
@Consumes(MediaType.APPLICATION_JSON)
@Produces(MediaType.APPLICATION_JSON)
public interface RestUsers {
    @POST
    @Path("bid")
    BidRequest bid(BidRequest request);

    @GET
    @Path("exists")
    boolean existUser(@QueryParam("email") String email);

    @POST
    @Path("user")
    boolean createUser(User user);

    @GET
    @Path("user/{id}")
    User getUser(@PathParam("id") long id);

    @GET
    @Path("users")
    Page<User> listUser(@QueryParam("page") int page);

    @GET
    @Path("fail")
    String fail(@QueryParam("how") String how);
}
