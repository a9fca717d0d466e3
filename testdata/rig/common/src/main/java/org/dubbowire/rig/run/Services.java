package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import com.alibaba.dubbo.rpc.benchmark.EchoService;
import com.github.smartbuf.dubbo.model.PostModel;
import com.github.smartbuf.dubbo.model.UserModel;
import java.util.List;
import org.apache.dubbo.benchmark.bean.Page;
import org.apache.dubbo.benchmark.bean.User;
import org.apache.dubbo.benchmark.service.UserService;

/** The published services. */
final class Services {
    private Services() {
    }

    static final class Echo implements EchoService {
        @Override
        public BidRequest bid(BidRequest request) {
            return request;
        }

        @Override
        public String text(String text) {
            return text;
        }
    }

    static final class Users implements UserService {
        @Override
        public boolean existUser(String email) {
            return email == null || email.isEmpty() || email.charAt(email.length() - 1) >= '5';
        }

        @Override
        public boolean createUser(User user) {
            return user != null;
        }

        @Override
        public User getUser(long id) {
            return id < 0 ? Data.undated(Data.user(id, "")) : Data.user(id, "");
        }

        @Override
        public Page<User> listUser(int pageNo) {
            Page<User> page = Data.page(pageNo);
            if (pageNo < 0) {
                page.getResult().forEach(Data::undated);
            }
            return page;
        }
    }

    static final class Posts implements com.github.smartbuf.dubbo.UserService {
        private final List<PostModel> posts = Data.posts();
        private final UserModel user = Data.circle();

        @Override
        public List<PostModel> queryPost(String keyword) {
            return posts;
        }

        @Override
        public UserModel getUser(Integer userId) {
            return user;
        }

        @Override
        public String tiny(String request) {
            return Data.uuid(request.length());
        }
    }
}
