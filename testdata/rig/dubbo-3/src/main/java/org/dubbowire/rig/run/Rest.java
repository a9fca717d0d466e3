package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import org.apache.dubbo.benchmark.bean.Page;
import org.apache.dubbo.benchmark.bean.User;
import org.apache.dubbo.benchmark.service.UserService;

/** The published services over HTTP/1.1: a port of the protocol rest (3.2). */
public final class Rest implements Extra {
    private static final class Implementation implements RestUsers {
        private final UserService users = new Services.Users();

        @Override
        public BidRequest bid(BidRequest request) {
            return request;
        }

        @Override
        public boolean existUser(String email) {
            return users.existUser(email);
        }

        @Override
        public boolean createUser(User user) {
            return users.createUser(user);
        }

        @Override
        public User getUser(long id) {
            return users.getUser(id);
        }

        @Override
        public Page<User> listUser(int page) {
            return users.listUser(page);
        }

        @Override
        public String fail(String how) {
            throw new IllegalStateException(how);
        }
    }

    @Override
    public String name() {
        return "rest";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(RestUsers.class, new Implementation(), null, null);
    }

    @Override
    public void run() {
        RestUsers users = Remote.of(RestUsers.class).parameter("client", System.getProperty("rig.client","url-connection")).get();
        for (int i = 0; i < 10; i++) {
            int n = i;
            Step.run("bid", () -> users.bid(Data.bid()));
            Step.run("existUser", () -> users.existUser("jdoe" + n + "@example.org" + n));
            Step.run("createUser", () -> users.createUser(Data.user(n, "")));
            Step.run("getUser", () -> users.getUser(n * 1_000_000_007L));
            Step.run("listUser", () -> users.listUser(n));
        }
        Step.fails("fail", () -> users.fail("it fails"));
    }
}
